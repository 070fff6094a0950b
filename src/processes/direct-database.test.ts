import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/database.ts";
import { startTestGateway, type TestGateway, waitUntil } from "../../test/gateway.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../test/servers/database-proxy.ts";

let store: TestDatabase;
/** Stands in for the pooler. */
let proxy: DatabaseProxy;
let gateway: TestGateway;

beforeAll(async () => {
  store = await createTestDatabase();
  proxy = await startDatabaseProxy(store.url);
  gateway = await startTestGateway({
    DATABASE_URL: proxy.database.url,
    WAYGATE_DATABASE_DIRECT_URL: store.url,
  });
});

afterAll(async () => {
  await gateway.stop();
  await proxy.close();
  await store.drop();
});

async function readHeartbeat(): Promise<number> {
  const { rows } = await store.database.pool.query(
    "select max(heartbeat)::int as heartbeat from node where not dead",
  );
  return rows[0].heartbeat;
}

test("a node sends heartbeats past the pooler, and returns 503 while the pooler is unavailable", async () => {
  proxy.cut();
  const response = await fetch(`${gateway.url}/api/v1/instances`, {
    headers: { authorization: "Bearer wrong" },
  });
  expect(response.status).toBe(401);
  const refused = await gateway.owner.listInstances().catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 503, code: "UNAVAILABLE" });
  const heartbeat = await readHeartbeat();
  await waitUntil(async () => (await readHeartbeat()) > heartbeat);
  expect(gateway.gateway.engine.isSafe()).toBe(true);
  proxy.restore();
  await waitUntil(() => gateway.owner.listInstances().then(Boolean, () => false));
});

test("a node does not start if the two database addresses belong to two databases", async () => {
  const other = await createTestDatabase();
  const start = gateway.addNode({ WAYGATE_DATABASE_DIRECT_URL: other.url });
  await expect(start).rejects.toThrow(
    "WAYGATE_DATABASE_DIRECT_URL leads to another database than DATABASE_URL. Set both to the same one.",
  );
  await other.drop();
});
