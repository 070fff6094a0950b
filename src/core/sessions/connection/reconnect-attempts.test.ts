import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../../test/gateway.ts";
import { phoneJid } from "../../../network/jid.ts";
import { createConnectionRecorder } from "./connection-recorder.ts";
import { markSeenInstances } from "./mark-seen-instances.ts";

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

/** Minutes since the session was last seen, after maintenance saw it `minutes` ago. */
async function seenAfterUpkeep(minutes: number): Promise<number> {
  const { db } = gateway.database;
  await sql`
    update instance set last_seen_at = now() - ${minutes} * interval '1 minute' where id = ${shop.id}`.execute(
    db,
  );
  await markSeenInstances(db);
  const { data } = await shop.client.getInstance({ id: shop.id });
  return Math.round((Date.now() - Date.parse(data.last_seen_at ?? "")) / 60_000);
}

it("last_seen_at advances while the session is alive, at most every five minutes", async () => {
  expect(await seenAfterUpkeep(60)).toBe(0);
  expect(await seenAfterUpkeep(4)).toBe(4);
});

it("last_seen_at does not advance once the session or its node is gone", async () => {
  const { db } = gateway.database;
  await sql`update instance set status = 'disconnected' where id = ${shop.id}`.execute(db);
  expect(await seenAfterUpkeep(60)).toBe(60);
  await sql`update instance set status = 'connected' where id = ${shop.id}`.execute(db);
  expect(await seenAfterUpkeep(60)).toBe(0);
});
