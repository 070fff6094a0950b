import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { PASSWORD } from "../../../test/sign-in.ts";
import { createAccount } from "../../core/accounts/users/create-account.ts";
import type { Db } from "../../platform/db/database.ts";
import type { Reach } from "../../platform/reach.ts";
import { findLeads } from "./find-leads.ts";

const OTHERS = 500;

let store: TestDatabase;
let reach: Reach;

beforeAll(async () => {
  store = await createTestDatabase();
  const { db, pool } = store.database;
  const login = { email: "agent@example.com", password: PASSWORD };
  const { account_id } = await createAccount(db, { name: "Shop", account_type: "client", ...login });
  const [own, other] = [7, 8];
  reach = { account_id, instance_ids: [own] };
  await pool.query(
    `insert into lead (account_id, phone, lid, name) values
       ($1, '5511987650001', null, 'Same'), ($1, '551187650002', null, 'Other format'), ($1, null, '77@lid', 'LID')`,
    [account_id],
  );
  await pool.query(
    "insert into lead (account_id, phone) select $1, (5521987650000 + n)::text from generate_series(1, $2) n",
    [account_id, OTHERS],
  );
  await addContacts(own, "('5511987650001', null), ('5511987650002', null), (null, '77@lid')");
  await addContacts(other, "('5521987650001', '88@lid')");
});
afterAll(() => store?.drop());

/** `values`: pairs of phone and LID. */
async function addContacts(instance: number, values: string): Promise<void> {
  await store.database.pool.query(
    `insert into contact (account_id, instance_id, jid, phone, lid)
     select $1, $2, coalesce(phone, lid), phone, lid from (values ${values}) as x (phone, lid)`,
    [reach.account_id, instance],
  );
}

/** Names of the leads that the agent finds, and how often the statement used an index of contacts. */
async function find() {
  return store.database.db.transaction().execute(async (trx) => {
    const leads = await findLeads(trx as unknown as Db, reach, {}, undefined, 51);
    const { rows } = await sql<{ count: number }>`
      select idx_scan as count from pg_stat_xact_user_tables where relname = 'contact'`.execute(trx);
    return { names: leads.map(({ name }) => name), lookups: rows[0]?.count };
  });
}

describe("the leads of an agent who may use one instance", () => {
  test("are those of its few contacts, which are not looked for lead by lead", async () => {
    const { names, lookups } = await find();
    expect(names).toEqual(["LID", "Other format", "Same"]);
    expect(lookups).toBeLessThan(10);
  });

  test("are the same if the instance has many more contacts", async () => {
    await store.database.pool.query(
      `insert into contact (account_id, instance_id, jid, phone)
       select $1, $2, 'many' || n, (5531987650000 + n)::text from generate_series(1, 10001) n`,
      [reach.account_id, reach.instance_ids?.[0]],
    );
    const { names, lookups } = await find();
    expect(names).toEqual(["LID", "Other format", "Same"]);
    expect(lookups).toBeGreaterThan(OTHERS);
  });
});
