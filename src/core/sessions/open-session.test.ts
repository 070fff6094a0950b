import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { type Cable, layCable } from "../../../test/servers/database-proxy.ts";
import { createLog } from "../../platform/log/log.ts";
import { type OpenSessionDeps, openSession } from "./open-session.ts";

let store: TestDatabase;
let cable: Cable;

beforeAll(async () => {
  store = await createTestDatabase();
  cable = await layCable(store.url);
});
afterAll(async () => {
  await cable.close();
  await store.drop();
});

function createDeps() {
  const told: unknown[] = [];
  const recorder = { record: async (_: number, change: unknown) => void told.push(change) };
  const deps = { db: cable.database.db, recorder, log: createLog("silent") } as unknown as OpenSessionDeps;
  return { told, deps };
}

const sessions = { open: () => expect.fail("there is nothing to open"), close: async () => {} };
const instance = { id: 1, network: "sandbox" as const };

it("opening a session is retried, but not reported, while the database is unavailable", async () => {
  const { told, deps } = createDeps();
  cable.cut();
  await expect(openSession(deps, sessions, instance)).rejects.toThrow();
  cable.restore();
  expect(told).toEqual([]);
});

it("opening a session is reported as failed if it can never succeed", async () => {
  const { told, deps } = createDeps();
  await openSession(deps, sessions, instance);
  expect(told).toEqual([
    { type: "failed", reason: "session_failed", detail: expect.stringContaining("operator") },
  ]);
});
