import { afterAll, beforeAll, expect, it } from "vitest";
import { migrateDatabase } from "../src/platform/db/migrate-database.ts";
import { createDatabaseBefore, type TestDatabase } from "./database.ts";

const MIGRATION = "0043-chatwoot-address";
const BASE = "https://gateway.example/webhooks/chatwoot/1/";
const TOKEN = "Zq4-Secret_Token";

let store: TestDatabase;

beforeAll(async () => {
  store = await createDatabaseBefore(MIGRATION);
  const { pool, db } = store.database;
  const states: readonly (readonly [provider: string, state: object])[] = [
    ["chatwoot", { webhook_url: `${BASE}${TOKEN}`, inbox_id: 7 }],
    ["chatwoot", {}],
    ["n8n", { webhook_url: `${BASE}${TOKEN}` }],
  ];
  for (const [nth, [provider, state]] of states.entries()) {
    await pool.query(
      `insert into integration (account_id, instance_id, provider, lane, event_names, config, state)
       values (1, $1, $2, $1, '{}', '{}', $3)`,
      [nth + 1, provider, JSON.stringify(state)],
    );
  }
  expect(await migrateDatabase(db)).toContain(MIGRATION);
});
afterAll(() => store.drop());

async function statesOf(provider: string): Promise<unknown[]> {
  const { rows } = await store.database.pool.query(
    "select state from integration where provider = $1 order by id",
    [provider],
  );
  return rows.map(({ state }) => state);
}

it("the migration removes the token from Chatwoot's webhook address, and keeps the other state", async () => {
  expect(await statesOf("chatwoot")).toEqual([{ webhook_base: BASE, inbox_id: 7 }, {}]);
  expect(JSON.stringify(await statesOf("chatwoot"))).not.toContain(TOKEN);
});

it("the migration does not change the integrations with other programs", async () => {
  expect(await statesOf("n8n")).toEqual([{ webhook_url: `${BASE}${TOKEN}` }]);
});
