import { afterAll, beforeAll, expect, it } from "vitest";
import { canonicalNumberOf, numberVariantsOf } from "../src/features/contacts/contacts.ts";
import { migrateDatabase } from "../src/platform/db/migrate-database.ts";
import { createDatabaseBefore, type TestDatabase } from "./database.ts";

const MIGRATION = "0047-one-person";
const [LONG, SHORT] = ["5551987650007", "555187650007"];

let store: TestDatabase;

beforeAll(async () => {
  store = await createDatabaseBefore(MIGRATION);
  await rows(`with p as (insert into plan (name, features) values ('p', '{}') returning id)
    insert into account (name, account_type, plan_id, settings) select 'a', 'client', id, '{}' from p`);
  await insertLeads();
  await insertConsents();
  await insertRecipients();
  expect(await migrateDatabase(store.database.db)).toContain(MIGRATION);
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

/** One row for each statement: the day on which it was made, the contact, and the statement. */
const STATEMENTS: readonly (readonly [
  purpose: string,
  day: number,
  phone: string | null,
  granted: boolean,
  channel?: string,
])[] = [
  ["refused under the other spelling", 1, LONG, true],
  ["refused under the other spelling", 2, SHORT, false],
  ["refused, recorded before an older consent", 2, LONG, false],
  ["refused, recorded before an older consent", 1, SHORT, true],
  ["refused in the same moment", 1, LONG, false],
  ["refused in the same moment", 1, SHORT, true],
  ["refused before a consent was copied", 2, LONG, false],
  ["refused before a consent was copied", 3, SHORT, true, "merge"],
  ["agreed again under the other spelling", 1, LONG, false],
  ["agreed again under the other spelling", 2, SHORT, true],
  ["refused by the lead", 1, "351912345678", true],
  ["refused by the lead", 2, null, false],
  ["agreed after the lead refused", 1, null, false],
  ["agreed after the lead refused", 2, "351912345678", true],
  ["refused by the lead alone", 1, null, false],
];

async function insertConsents(): Promise<void> {
  for (const [purpose, day, phone, granted, channel] of STATEMENTS) {
    await rows(
      `insert into consent (account_id, lead_id, phone, purpose, consent_type, granted, channel, created_at)
       values (1, $1, $2, $3, 'opt_in', $4, $5, date '2026-01-01' + $6::int)`,
      phone === null ? 3 : null,
      phone,
      purpose,
      granted,
      channel ?? null,
      day,
    );
  }
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

it("two leads with variants of one number are merged into one, which keeps the opt-out", async () => {
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

it("an opt-out applies to every variant of a number unless a later consent was given", async () => {
  const held = await rows(
    "select distinct purpose, granted from consent_state where subject in ('phone:' || person_of($1), 'phone:351912345678')",
    LONG,
  );
  const expected = [...new Set(STATEMENTS.map(([purpose]) => purpose))];
  expect(held).toHaveLength(expected.length);
  expect(held).toEqual(
    expect.arrayContaining(expected.map((purpose) => ({ purpose, granted: purpose.startsWith("agreed") }))),
  );
});

it("the migration knows which contacts a running campaign has already written to", async () => {
  const people = await rows("select phone, person from campaign_recipient order by id");
  expect(people).toEqual([
    { phone: LONG, person: canonicalNumberOf(LONG) },
    { phone: SHORT, person: null },
  ]);
});

/** Each country with two formats and two without, all first digits that can matter, and lengths around the limits. */
function generateNumbers(): string[] {
  const digits = [..."0123456789"];
  const starts = ["55", "55119", "52", "521", "54", "549", "1", "351"].flatMap((start) =>
    digits.flatMap((first) => digits.map((second) => start + first + second)),
  );
  return starts.flatMap((start) =>
    [8, 9, 10, 11, 12, 13, 14].map((length) => start.padEnd(length, "9876543210")),
  );
}

it("the database identifies a contact by its number exactly as the gateway does", async () => {
  const phones = generateNumbers();
  const found = await rows(
    "select person_of(p) as person, spellings_of(p) as spellings from unnest($1::text[]) with ordinality x (p, n) order by n",
    phones,
  );
  expect(found).toEqual(
    phones.map((phone) => ({ person: canonicalNumberOf(phone), spellings: numberVariantsOf(phone) })),
  );
  expect(phones.filter((phone) => numberVariantsOf(phone).length > 1).length).toBeGreaterThan(500);
});
