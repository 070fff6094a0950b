import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";

let gateway: TestGateway;
let shop: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
  await gateway.owner.sandboxBan({ id: shop.id });
  await waitUntil(
    async () => (await shop.client.getInstanceStatus({ id: shop.id })).data.status === "banned",
  );
});
afterAll(() => gateway.stop());

const statuses = async (filter: { failed?: string; since?: string; until?: string } = {}) => {
  const { data } = await gateway.owner.listInstanceLogs({ id: shop.id, type: "connections", ...filter });
  return data.connections.map(({ status }) => status);
};

describe("the logs of an instance", () => {
  test("can be limited to what went wrong, or to what did not", async () => {
    expect(await statuses({ failed: "true" })).toEqual(["banned"]);
    const well = await statuses({ failed: "false" });
    expect(well).toContain("connected");
    expect(well).not.toContain("banned");
    expect([...well, "banned"].sort()).toEqual((await statuses()).sort());
  });

  test("can be limited to a time, the end of which is excluded", async () => {
    const { data } = await gateway.owner.listInstanceLogs({ id: shop.id, type: "connections" });
    const at = data.connections[0]?.created_at ?? "";
    expect(await statuses({ since: new Date(Date.parse(at) + 1_000).toISOString() })).toEqual([]);
    expect(await statuses({ since: at })).toContain("banned");
    expect(await statuses({ until: new Date(Date.parse(at) - 3_600_000).toISOString() })).toEqual([]);
    await expect(statuses({ since: "yesterday" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
