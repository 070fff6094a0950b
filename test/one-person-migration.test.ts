import { Migrator } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { migrations } from "../migrations/all.ts";
import { personOf, spellingsOf } from "../src/features/contacts/contacts.ts";
import { KNOWN_MIGRATIONS, migrateDatabase } from "../src/platform/migrate.ts";
import { createEmptyDatabase, type TestDatabase } from "./database.ts";

const MIGRATION = "0047-one-person";
const [LONG, SHORT] = ["5551987650007", "555187650007"];

let store: TestDatabase;

beforeAll(async () => {
  store = await createEmptyDatabase();
  const { db } = store.database;
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const before = KNOWN_MIGRATIONS[KNOWN_MIGRATIONS.indexOf(MIGRATION) - 1] ?? "";
  expect((await migrator.migrateTo(before)).error).toBeUndefined();
  await rows(`with p as (insert into plan (name, features) values ('p', '{}') returning id)
    insert into account (name, account_type, plan_id, settings) select 'a', 'client', id, '{}' from p`);
  await insertLeads();
  await insertConsents();
  await insertRecipients();
  expect(await migrateDatabase(db)).toContain(MIGRATION);
});
afterAll(() => store.drop());

async function rows(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  return (await store.database.pool.query(text, values)).rows;
}

async function insertLeads(): Promise<void> {
  await rows(
    `insert into lead (account_id, phone, name, tags, custom_fields, opted_out_at) values
       (1, $1, 'Bia', '{a}', '{"City": "Recife"}', null), (1, $2, null, '{b}', '{"City": "Olinda", "Size": 3}', now()),
       (1, '351912345678', 'Eva', '{}', '{}', null)`,
    LONG,
    SHORT,
  );
  await rows("insert into lead_note (account_id, lead_id, note) values (1, 2, 'Wrote first')");
}

async function insertConsents(): Promise<void> {
  const consent = `insert into consent (account_id, lead_id, phone, purpose, consent_type, granted)
    values (1, $1, $2, 'news', 'opt_in', $3)`;
  await rows(consent, null, LONG, true);
  await rows(consent, null, SHORT, false);
  await rows(consent, null, "351912345678", true);
  await rows(consent, 3, null, false);
}

async function insertRecipients(): Promise<void> {
  await rows(`insert into campaign (account_id, instance_id, name, status, message_template, min_delay_ms, max_delay_ms)
    values (1, 1, 'c', 'running', 'Hi', 0, 0)`);
  await rows(
    `insert into campaign_recipient (account_id, campaign_id, phone, status) values (1, 1, $1, 'read'), (1, 1, $2, 'pending')`,
    LONG,
    SHORT,
  );
}

it("makes one lead of two under the spellings of one number, and keeps the opt-out", async () => {
  const leads = await rows("select * from lead order by id");
  expect(leads).toMatchObject([
    { phone: LONG, name: "Bia", tags: ["a", "b"], custom_fields: { City: "Recife", Size: 3 } },
    { name: "Eva", opted_out_at: null },
  ]);
  expect(leads[0]?.opted_out_at).not.toBeNull();
  expect(await rows("select lead_id, note from lead_note")).toEqual([
    { lead_id: leads[0]?.id, note: "Wrote first" },
  ]);
});

it("keys consent by the person, and lets what a lead withdrew hold for its phone", async () => {
  const held = await rows("select phone, granted from consent_state where phone is not null order by phone");
  expect(held).toEqual([
    { phone: "351912345678", granted: false },
    { phone: SHORT, granted: false },
  ]);
});

it("knows whom a campaign under way has written to already", async () => {
  const people = await rows("select phone, person from campaign_recipient order by id");
  expect(people).toEqual([
    { phone: LONG, person: personOf(LONG) },
    { phone: SHORT, person: null },
  ]);
});

it("finds the same person as the gateway does", async () => {
  const phones = [
    LONG,
    SHORT,
    "5215512345678",
    "525512345678",
    "541123456789",
    "553133334444",
    "12025550123",
  ];
  const found = await rows(
    "select person_of(p) as person, spellings_of(p) as spellings from unnest($1::text[]) with ordinality x (p, n) order by n",
    phones,
  );
  expect(found).toEqual(phones.map((phone) => ({ person: personOf(phone), spellings: spellingsOf(phone) })));
});
