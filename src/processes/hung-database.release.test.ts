import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/database.ts";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../test/gateway.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../test/servers/database-proxy.ts";

let store: TestDatabase;
let proxy: DatabaseProxy;
let gateway: TestGateway;
let shop: TestInstance;

beforeAll(async () => {
  store = await createTestDatabase();
  proxy = await startDatabaseProxy(store.url);
  gateway = await startTestGateway({ DATABASE_URL: proxy.url, WAYGATE_UNKNOWN_OUTCOME_WAIT: "1s" });
  shop = await gateway.connectInstance();
});

afterAll(async () => {
  proxy.restore();
  await gateway.stop();
  await proxy.close();
  await store.drop();
});

function send(number: string, text: string) {
  return shop.client.sendText({ id: shop.id, number, text, async: true });
}

async function readiness(): Promise<number> {
  return (await fetch(`${gateway.url}/health/ready`)).status;
}

async function undecided(): Promise<number> {
  const { rows } = await store.database.pool.query<{ count: number }>(
    "select count(*) from message where outcome_at is null",
  );
  return rows[0]?.count ?? 0;
}

/** "accepted", or the status of the error. */
async function resultOf(request: Promise<unknown>): Promise<unknown> {
  return request.then(
    () => "accepted",
    (error: { status?: number }) => error.status ?? error,
  );
}

test("a hung database causes 503 responses, and work continues once the database responds", async () => {
  const numbers = Array.from({ length: 20 }, (_, n) => `55119666600${10 + n}`);
  await Promise.all(numbers.map((number) => resultOf(send(number, "before"))));
  const during = numbers.map((number) => resultOf(send(number, "during")));
  proxy.silence();
  for (const result of await Promise.all(during)) expect(["accepted", 503]).toContain(result);
  await waitUntil(async () => (await readiness()) === 503);
  expect(await resultOf(gateway.owner.listInstances())).toBe(503);
  expect(await resultOf(send("5511966660099", "meanwhile"))).toBe(503);
  proxy.restore();
  await waitUntil(async () => (await readiness()) === 200);
  await waitUntil(async () => (await resultOf(send("5511966660099", "after"))) === "accepted");
  await waitUntil(async () => (await undecided()) === 0);
});
