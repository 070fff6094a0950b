import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { phoneJid } from "../../network/jid.ts";
import { createConnectionRecorder } from "./connection-recorder.ts";

let gateway: TestGateway;
let shop: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
});
afterAll(() => gateway.stop());

const attempts = async () => (await shop.client.getInstanceStatus({ id: shop.id })).data.attempts;
const watched = async () => {
  const { data } = await gateway.admin.adminMonitor({});
  return data.instances.find(({ id }) => id === shop.id);
};

it("the status and the monitor count failed connections until one succeeds", async () => {
  const { engine } = gateway.gateway;
  const recorder = createConnectionRecorder({ db: gateway.database.db, engine });
  expect(await attempts()).toBe(0);
  const lost = { type: "disconnected", reason: "connection_lost", will_retry: true } as const;
  for (const failed of [1, 2, 3]) {
    await recorder.record(shop.id, lost);
    expect(await attempts()).toBe(failed);
  }
  expect(await watched()).toMatchObject({ status: "reconnecting", attempts: 3 });
  const me = { phone: shop.phone, jid: phoneJid(shop.phone), lid: null, push_name: null };
  await recorder.record(shop.id, { type: "connected", me, platform: "sandbox" });
  expect(await attempts()).toBe(0);
});

it("a node divides its memory growth since its start among its sessions", async () => {
  const other = await gateway.connectInstance();
  const { pool } = gateway.database;
  await pool.query("update node set memory_at_start = 50 * 1048576 where not dead");
  // The node continues to record its memory usage.
  await waitUntil(async () => {
    const { rows } = await pool.query("select memory / 1048576.0 - 50 as taken from node where not dead");
    return (await watched())?.memory_mb === Math.round((rows[0].taken / 2) * 10) / 10;
  });
  await other.client.logoutInstance({ id: other.id });
  const { data } = await gateway.admin.adminMonitor({});
  expect(data.instances.find(({ id }) => id === other.id)?.memory_mb).toBeNull();
});
