import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../../test/servers/database-proxy.ts";
import { createLog } from "../../platform/log/log.ts";
import { type OpenSessionDeps, openSession } from "./open-session.ts";

let store: TestDatabase;
let proxy: DatabaseProxy;

beforeAll(async () => {
  store = await createTestDatabase();
  proxy = await startDatabaseProxy(store.url);
});
afterAll(async () => {
  await proxy.close();
  await store.drop();
});

function createDeps() {
  const received: unknown[] = [];
  const recorder = { record: async (_: number, change: unknown) => void received.push(change) };
  const deps = { db: proxy.database.db, recorder, log: createLog("silent") } as unknown as OpenSessionDeps;
  return { received, deps };
}

const sessions = { open: () => expect.fail("there is nothing to open"), close: async () => {} };
const instance = { id: 1, network: "sandbox" as const };

it("opening a session is retried, but not reported, while the database is unavailable", async () => {
  const { received, deps } = createDeps();
  proxy.cut();
  await expect(openSession(deps, sessions, instance)).rejects.toThrow();
  proxy.restore();
  expect(received).toEqual([]);
});

it("opening a session is reported as failed if it can never succeed", async () => {
  const { received, deps } = createDeps();
  await openSession(deps, sessions, instance);
  expect(received).toEqual([
    { type: "failed", reason: "session_failed", detail: expect.stringContaining("operator") },
  ]);
});
