import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { changeTiming } from "../../test/change-sandbox-timing.ts";
import { createTestDatabase, type TestDatabase } from "../../test/database.ts";
import { readConfig } from "../platform/config/config.ts";
import { CONNECT_TIMING } from "../platform/db/database.ts";
import { createLog } from "../platform/log/log.ts";
import { CleanupStack } from "./cleanup-stack.ts";
import { openDatabases, prepareDatabases } from "./open-databases.ts";

changeTiming(CONNECT_TIMING, { timeoutMs: 100 });

let store: TestDatabase;
beforeAll(async () => {
  store = await createTestDatabase();
});
afterAll(() => store.drop());

/** Delays each connection to the database by `ms`. */
async function delayConnections(databaseUrl: string, ms: number) {
  const url = new URL(databaseUrl);
  const port = Number(url.port);
  const server = createServer((from) => {
    const passOn = () => {
      const to = connect(port, "127.0.0.1", () => from.pipe(to).pipe(from));
      for (const socket of [from, to]) socket.on("error", () => {}).on("close", () => void to.destroy());
    };
    setTimeout(passOn, ms);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return { url: url.href, server };
}

test("a gateway waits longer for a database at the start, since that may be starting too", async () => {
  const { url, server } = await delayConnections(store.url, 500);
  const undo = new CleanupStack();
  const config = readConfig({ DATABASE_URL: url, WAYGATE_SECRET_KEY: randomBytes(32).toString("base64") });
  const databases = await openDatabases(config, "/nowhere", createLog("silent"), undo);
  await prepareDatabases(config, "/nowhere", databases);
  const { database, requests, sandbox } = databases;
  for (const { db } of [database, requests, sandbox]) await sql`select 1`.execute(db);
  database.endStart();
  // The first connection is busy, so this needs another one.
  const second = database.db.transaction().execute(() => sql`select 1`.execute(database.db));
  await expect(second).rejects.toThrow(/timeout/);
  await undo.run();
  server.close();
});
