import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { declaredTables, type TableName } from "../../core/declared-tables.ts";
import type { Anonymisation, AnonymisationPart } from "../../core/personal-data/personal-data.ts";
// Fills the declarations of extensions.
import "../../processes/extensions.ts";
import { PARTS_OF_SCOPE } from "./anonymisation-scope.ts";
import {
  anonymiseRows,
  chatSteps,
  nameSteps,
  numberedTables,
  remainingTableSteps,
} from "./anonymise-table-steps.ts";
import { EXPORTED_LISTS } from "./contract.ts";
import { exportedTables } from "./export-account.ts";
import { findPerson } from "./find-person.ts";
import { erasedTables } from "./privacy-lane.ts";

const STEPS = [...nameSteps(), ...chatSteps(), ...remainingTableSteps()];
const EVERY_ROW = Object.fromEntries(numberedTables().map((table) => [table, 1_000_000]));

let store: TestDatabase;
let shop: { account: number; instance: number };
let other: { account: number; instance: number };

beforeAll(async () => {
  store = await createTestDatabase();
});
afterAll(() => store.drop());

beforeEach(async () => {
  await store.database.pool.query("truncate account, instance, contact, pseudonym restart identity cascade");
  shop = await addAccount();
  other = await addAccount();
});

async function query(text: string, values: unknown[] = []) {
  return (await store.database.pool.query(text, values)).rows;
}

async function addAccount() {
  const [row] = await query(`
    with p as (insert into plan (name, features) values (gen_random_uuid()::text, '{}') returning id),
      a as (insert into account (name, account_type, plan_id, settings) select 'Shop', 'client', id, '{}' from p returning id)
    insert into instance (account_id, lane, global_lane, name, network, webhook_secret, profile_name)
    select id, 1, 2, 'Sales', 'sandbox', '', 'Bia' from a returning id, account_id`);
  return { account: Number(row.account_id), instance: Number(row.id) };
}

const addLeads = (count: number, of = shop) =>
  query(
    `insert into lead (account_id, phone, name, email, tags)
     select $1, (5511999990000 + n)::text, 'Bia', 'bia@example.com', '{vip}' from generate_series(1, $2) n`,
    [of.account, count],
  );

const runOf = (parts: readonly AnonymisationPart[], changed: Partial<Anonymisation> = {}): Anonymisation => ({
  request: 1,
  parts: new Set(parts),
  account_id: shop.account,
  instances: [shop.instance],
  until: EVERY_ROW,
  ...changed,
});

/** Runs the table's step from the start, for at most ten batches. Returns the rows of each. */
async function runStep(name: string, run: Anonymisation): Promise<number[]> {
  const step = STEPS.find((one) => one.name === name);
  if (!step?.runBatch) throw new Error(`There is no step ${name}.`);
  const { runBatch } = step;
  const sizes: number[] = [];
  let after: unknown = null;
  do {
    const batch = await store.database.db.transaction().execute(async (trx) => {
      return runBatch(trx, run, after);
    });
    sizes.push(batch.rows);
    after = batch.after;
  } while (after !== null && sizes.length < 10);
  return sizes;
}

describe("the anonymisation of a table", () => {
  test("changes every row of the account, in batches of 500, and no other account's", async () => {
    await addLeads(1_100);
    await addLeads(1, other);
    expect(await runStep("lead", runOf(["leads"]))).toEqual([500, 500, 100]);
    const rows = await query("select account_id, name, email, tags from lead where name not like 'anon-%'");
    expect(rows).toEqual([
      { account_id: other.account, name: "Bia", email: "bia@example.com", tags: ["vip"] },
    ]);
    expect(
      await query("select from lead where account_id = $1 and email is not null", [shop.account]),
    ).toEqual([]);
  });

  test("ends without another batch if its rows fill the last one", async () => {
    await addLeads(500);
    expect(await runStep("lead", runOf(["leads"]))).toEqual([500, 0]);
  });

  test("covers the rows up to the last one at its request", async () => {
    await addLeads(3);
    await runStep("lead", runOf(["leads"], { until: { lead: 2 } }));
    expect(await query("select id from lead where name = 'Bia'")).toEqual([{ id: 3 }]);
    expect(await runStep("lead", runOf(["leads"], { until: {} }))).toEqual([0]);
  });

  test("leaves the columns of parts that were not requested", async () => {
    await addLeads(1);
    await runStep("lead", runOf(["account"]));
    expect(await query("select name from lead")).toEqual([{ name: "Bia" }]);
  });

  test("covers the account itself, but no other", async () => {
    expect(await runStep("account", runOf(["account"]))).toEqual([1]);
    expect(await query("select name from account order by id")).toEqual([
      { name: `anon-${shop.account}` },
      { name: "Shop" },
    ]);
  });

  test("covers the rows of the account's instances", async () => {
    for (const of of [shop, other])
      await query(
        "insert into contact (account_id, instance_id, jid, name) values ($1, $2, '5511999990001@s.whatsapp.net', 'Bia')",
        [of.account, of.instance],
      );
    expect(await runStep("contact", runOf(["conversations"]))).toEqual([1]);
    const rows = await query("select account_id, name from contact order by id");
    expect(rows).toEqual([
      { account_id: shop.account, name: null },
      { account_id: other.account, name: "Bia" },
    ]);
    expect(await runStep("contact", runOf(["conversations"], { instances: [] }))).toEqual([0]);
  });

  test("covers the recipients of the account's campaigns", async () => {
    for (const of of [shop, other])
      await query(
        `with c as (insert into campaign (account_id, instance_id, name, message_template, min_delay_ms, max_delay_ms)
           values ($1, $2, 'News', 'Hi', 0, 0) returning id)
         insert into campaign_recipient (account_id, campaign_id, phone, variables)
         select $1, id, '5511999990001', '{"name": "Bia"}' from c`,
        [of.account, of.instance],
      );
    expect(await runStep("campaign_recipient", runOf(["leads"]))).toEqual([1]);
    const rows = await query("select phone, variables from campaign_recipient order by id");
    expect(rows).toEqual([
      { phone: expect.stringMatching(/^anon-/), variables: {} },
      { phone: "5511999990001", variables: { name: "Bia" } },
    ]);
  });

  test("changes only the given rows", async () => {
    await addLeads(2);
    await store.database.db.transaction().execute(async (trx) => {
      await anonymiseRows(trx, runOf(["leads"]), "lead", []);
      await anonymiseRows(trx, runOf(["leads"]), "lead", [2]);
    });
    expect(await query("select id from lead where name = 'Bia'")).toEqual([{ id: 1 }]);
  });
});

describe("the steps of an anonymisation", () => {
  test("begin with the names in events, then the chats, then everything else", () => {
    expect(nameSteps().map(({ name }) => name)).toEqual(["account", "account_user", "instance", "webhook"]);
    expect(chatSteps().map(({ name }) => name)).toEqual(["contact", "conversation"]);
    expect(remainingTableSteps().map(({ name }) => name)).toEqual([
      "audit",
      "api_log",
      "attempt",
      "consent",
      "campaign_recipient",
      "campaign",
      "lead_note",
      "lead",
      "custom_field",
      "quick_reply",
      "integration_link",
      "integration",
      "labelled",
      "label",
      "status_view",
      "status_update",
      "data_request",
    ]);
  });

  test("record the last row of their tables, and of messages, events and jobs", () => {
    expect(numberedTables().toSorted()).toEqual(
      [...STEPS.map(({ name }) => name), "message", "event", "job"].toSorted(),
    );
  });

  test.each([
    ["account", ["account"]],
    ["contact", ["conversations"]],
    ["attempt", ["account", "messages"]],
    ["consent", ["leads", "account"]],
    ["campaign_recipient", ["leads", "conversations", "messages"]],
  ])("of the table %s run if one of its parts is requested", (name, parts) => {
    expect([...(STEPS.find((step) => step.name === name)?.parts ?? [])].toSorted()).toEqual(parts.toSorted());
  });

  test("run for the parts of the requested scope", () => {
    expect(PARTS_OF_SCOPE).toEqual({
      account: ["account"],
      messages: ["messages"],
      leads: ["leads"],
      conversations: ["conversations", "messages"],
      all: ["account", "messages", "leads", "conversations"],
      person: ["messages", "leads", "conversations"],
    });
  });

  test("change no table outside the list of erased tables, and none twice", () => {
    const erased = erasedTables();
    expect(erased).toEqual(expect.arrayContaining([...numberedTables(), "pseudonym", "message_search"]));
    expect(new Set(erased).size).toBe(erased.length);
    for (const kept of ["node", "lane", "plan", "sign_in", "suppression", "backup"])
      expect(erased).not.toContain(kept);
  });
});

test("every list of an export has a table that is declared for it", () => {
  expect([...exportedTables().keys()].toSorted()).toEqual([...EXPORTED_LISTS].toSorted());
});

/** How erasing a person reaches the other tables with personal data. */
const BY_OTHER_STEPS: Partial<Record<TableName, string>> = {
  job: "waiting work is cancelled",
  held_job: "waiting work is cancelled",
  action: "waiting work is cancelled",
  message: "by its chat and its writer",
  message_receipt: "with the page of its message",
  message_search: "with its message",
  idempotency: "with its message",
  outgoing_media: "with its message",
  media: "with its message",
  blob: "once no message has the file",
  event: "by its chat, the people in it and its message",
  delivery: "with its event",
  attempt: "with its event",
  group_chat: "as a member",
  integration: "by its list of ignored people",
};
const NOT_OF_PEOPLE: readonly TableName[] = ["campaign", "group_list", "pseudonym", "status_update"];

test("the erasure of one person reaches every table that has data of people", () => {
  const missed = declaredTables().filter(([table, { personal = {}, deleted, ofPerson }]) => {
    const parts = [...Object.values(personal).flatMap((one) => one.parts), ...(deleted?.parts ?? [])];
    const isOfPeople = parts.some((part) => PARTS_OF_SCOPE.person.includes(part));
    return isOfPeople && !ofPerson && !(table in BY_OTHER_STEPS) && !NOT_OF_PEOPLE.includes(table);
  });
  expect(missed.map(([table]) => table)).toEqual([]);
});

describe("the one person to be erased", () => {
  const contact = (phone: string, lid: string, instance = shop.instance) =>
    query("insert into contact (account_id, instance_id, jid, phone, lid) values ($1, $2, $3, $4, $5)", [
      shop.account,
      instance,
      `${phone}@s.whatsapp.net`,
      phone,
      lid,
    ]);
  const known = async (...addresses: string[]) =>
    store.database.db.transaction().execute((trx) => findPerson(trx, shop.account, { addresses, leads: [] }));

  test("is known by both formats of a number, as digits and as addresses, and by the LID", async () => {
    await contact("5511987650001", "77@lid");
    const all = [
      "5511987650001",
      "5511987650001@s.whatsapp.net",
      "551187650001",
      "551187650001@s.whatsapp.net",
      "77@lid",
    ];
    for (const one of ["551187650001@s.whatsapp.net", "5511987650001", "77@lid"])
      expect((await known(one)).addresses).toEqual(expect.arrayContaining(all));
  });

  test("is not another person who has the number now", async () => {
    await contact("5511987650001", "77777@lid");
    await contact("5511987650001", "88888@lid", shop.instance + 100);
    const { addresses } = await known("77777@lid");
    expect(addresses).toContain("5511987650001");
    expect(addresses).not.toContain("88888@lid");
  });

  test("is no person of another account, and no pseudonym", async () => {
    await addLeads(1, other);
    expect((await known("5511999990001@s.whatsapp.net")).leads).toEqual([]);
    expect((await known("anon-1@lid")).addresses).toEqual([]);
  });
});
