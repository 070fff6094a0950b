import { Kysely, PostgresDialect } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../test/database.ts";
import type { Database } from "../../../platform/db/database.ts";
import type { Tables } from "../../../tables.ts";
import { listMessages, type MessageFilter } from "./list-messages.ts";
import { searchWords, tokenize } from "./search-words.ts";

const AT_ONCE = 50_000;

/**
 * Fills an instance's log with a year of messages: some chats and words are much more frequent than others, with a
 * few failed sends and locations.
 */
async function seedLog(
  { pool }: Database,
  { instance, messages, chats }: { instance: number; messages: number; chats: number },
): Promise<void> {
  await pool.query(
    `with people as (
       insert into contact (account_id, instance_id, jid, phone, push_name)
       select account_id, id, '5521' || (10000000 + n) || '@s.whatsapp.net', '5521' || (10000000 + n), 'Person ' || n
       from instance, generate_series(1, $2) n where id = $1
       returning id, account_id, instance_id, jid, phone, push_name)
     insert into conversation (account_id, instance_id, jid, phone, title, type, contact_id)
     select account_id, instance_id, jid, phone, push_name, 'contact', id from people`,
    [instance, chats],
  );
  for (let from = 1; from <= messages; from += AT_ONCE) {
    const until = Math.min(messages, from + AT_ONCE - 1);
    await pool.query(INSERT, [instance, from, until, messages]);
  }
  await pool.query(
    `update conversation c set last_message_at =
       (select max(sent_at) from message m where m.conversation_id = c.id) where instance_id = $1`,
    [instance],
  );
}

const INSERT = `
  with chat as (
    select id, account_id, jid, row_number() over (order by id) - 1 as n, count(*) over () as all_chats
    from conversation where instance_id = $1
  ), line as (
    select n, (random() ^ 3 * (select count(*) from chat))::int as chat, random() < 0.5 as from_me, random() as luck,
      (select string_agg('w' || (random() ^ 3 * 20000)::int, ' ') from generate_series(1, 8) where n > 0) as text
    from generate_series($2::int, $3::int) n
  ), added as (
    insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, jid, type,
      content, status, outcome_at, read_at, sent_at)
    select c.account_id, $1, c.id, '3EB0' || l.n, case when from_me then 'outbound' else 'inbound' end, from_me,
      case when from_me then 'api' else 'contact' end, c.jid,
      case when luck < 0.0001 then 'location' when luck < 0.05 then 'image' else 'text' end,
      case when luck < 0.0001 then jsonb_build_object('kind', 'location', 'latitude', 1, 'longitude', 2, 'name', text)
        when luck < 0.05 then jsonb_build_object('kind', 'media', 'media_type', 'image', 'mime_type', 'image/png',
          'size', 1000, 'caption', text)
        else jsonb_build_object('kind', 'text', 'text', text) end,
      case when not from_me then 'received' when luck > 0.999 then 'failed' when luck > 0.3 then 'read' else 'delivered' end,
      now(), case when not from_me and luck > 0.1 then now() end,
      now() - ($4::int - l.n) * interval '1 year' / $4::int
    from line l join chat c on c.n = l.chat
    returning id, account_id, instance_id, sent_at, type, content
  )
  insert into message_search (account_id, instance_id, at, id, words)
  select account_id, instance_id, sent_at, id, array_to_tsvector(array(
    select distinct instance_id || ':' || word from unnest(
      string_to_array(coalesce(content ->> 'text', content ->> 'caption', content ->> 'name'), ' ')
      || case when type <> 'text' then array['#' || type] end) word where word is not null))
  from added`;

const MESSAGES = 6_000;

let store: TestDatabase;
let db: Kysely<Tables>;
let instance: number;
let other: number;
let asked: { sql: string; parameters: readonly unknown[] }[] = [];

beforeAll(async () => {
  store = await createTestDatabase();
  const { pool } = store.database;
  db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void asked.push({ sql: query.sql, parameters: query.parameters }),
  });
  [instance, other] = [await addInstance(), await addInstance()];
  await seedLog(store.database, { instance, messages: MESSAGES, chats: 60 });
  await seedLog(store.database, { instance: other, messages: 600, chats: 10 });
  await pool.query("analyze");
});

afterAll(() => store.drop());

async function addInstance(): Promise<number> {
  const { rows } = await store.database.pool.query<{ id: number }>(
    `with p as (insert into plan (name, features) values (gen_random_uuid()::text, '{}') returning id),
       a as (insert into account (name, account_type, plan_id, settings) select 'a', 'client', id, '{}' from p returning id)
     insert into instance (account_id, lane, global_lane, name, network, webhook_secret)
     select id, 1, 2, 'i', 'sandbox', '' from a returning id`,
  );
  return Number(rows[0]?.id);
}

const list = (filter: Partial<MessageFilter> = {}) =>
  listMessages(db, { instance_ids: [instance], limit: 50, ...filter });

async function someConversation(): Promise<number> {
  const { id } = await db
    .selectFrom("conversation")
    .select("id")
    .where("instance_id", "=", instance)
    .orderBy("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** Scan types in a query plan. */
async function accessTo(request: () => Promise<unknown>): Promise<string[]> {
  asked = [];
  await request();
  const queries = asked;
  const found: string[] = [];
  const client = await store.database.pool.connect();
  try {
    await client.query("begin; set local enable_seqscan = off");
    for (const { sql, parameters } of queries) {
      const { rows } = await client.query(`explain (format json) ${sql}`, [...parameters]);
      collect(rows[0]["QUERY PLAN"][0].Plan, found);
    }
    await client.query("rollback");
  } finally {
    client.release();
  }
  return found;
}

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  Plans?: Plan[];
}

function collect(plan: Plan, found: string[]): void {
  if (plan["Relation Name"]) found.push(`${plan["Node Type"]} on ${plan["Relation Name"]}`);
  for (const inner of plan.Plans ?? []) collect(inner, found);
}

describe("an index is used for", () => {
  test.each<[string, () => Partial<MessageFilter> | Promise<Partial<MessageFilter>>]>([
    ["the list of an instance", () => ({})],
    ["the list of several instances", () => ({ instance_ids: [instance, other] })],
    ["a chat", async () => ({ conversation_id: await someConversation() })],
    ["a span of time", () => ({ from: new Date(Date.now() - 9_000_000_000), until: new Date() })],
    ["an uncommon status", () => ({ status: "failed" })],
    ["an uncommon type", () => ({ type: "location" })],
    ["a search for rare words", () => ({ q: "w19" })],
    ["a search for a frequent word", () => ({ q: "w1" })],
    ["a search in a chat", async () => ({ conversation_id: await someConversation(), q: "w19" })],
  ])("%s", async (_, filter) => {
    const access = await accessTo(async () => list(await filter()));
    expect(access.length).toBeGreaterThan(0);
    expect(access.filter((how) => /^(Parallel )?Seq Scan/.test(how))).toEqual([]);
  });
});

describe("paging", () => {
  test("returns every message once, newest first, also during inserts and with equal times", async () => {
    await db
      .updateTable("message")
      .set({ sent_at: new Date("2026-01-01T00:00:00Z") })
      .where("instance_id", "=", other)
      .where((eb) =>
        eb("id", "in", eb.selectFrom("message").select("id").where("instance_id", "=", other).limit(90)),
      )
      .execute();
    const before = await idsOf(other);
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const { rows, pagination } = await list({ instance_ids: [other], limit: 40, cursor });
      seen.push(...rows.map((row) => row.id));
      cursor = pagination.next_cursor ?? undefined;
      await arrive(other);
    } while (cursor);
    expect(seen.toSorted((a, b) => a - b)).toEqual(before);
    const { rows } = await list({ instance_ids: [other], limit: 5 });
    expect(rows[0]?.sent_at.getTime()).toBeGreaterThanOrEqual(rows[1]?.sent_at.getTime() ?? 0);
  });

  async function idsOf(id: number): Promise<number[]> {
    const rows = await db
      .selectFrom("message")
      .select("id")
      .where("instance_id", "=", id)
      .orderBy("id")
      .execute();
    return rows.map((row) => row.id);
  }

  let arrived = 0;

  async function arrive(id: number): Promise<void> {
    arrived += 1;
    await store.database.pool.query(
      `insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, jid, type,
         content, status)
       select account_id, instance_id, conversation_id, 'new' || $2::text, direction, from_me, origin, jid, type, content,
         status from message where instance_id = $1 limit 1`,
      [id, arrived],
    );
  }
});

describe("a search", () => {
  test("finds frequent words and rare words alike", async () => {
    for (const q of ["w0", "w1 w0", "W19"]) {
      const { rows } = await list({ q, limit: 200 });
      const { rows: expected } = await store.database.pool.query<{ id: number }>(
        `select m.id from message m join message_search s on s.id = m.id where m.instance_id = $1
         and (select bool_and(exists (select from unnest(tsvector_to_array(s.words)) w where w like $1::bigint || ':' || q || '%'))
           from unnest(string_to_array(lower($2), ' ')) q)
         order by m.sent_at desc, m.id desc limit 200`,
        [instance, q],
      );
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.map((row) => row.id)).toEqual(expected.map((row) => Number(row.id)));
    }
  });

  test("never finds messages of another instance", async () => {
    const { rows } = await list({ instance_ids: [other], q: "w1" });
    expect(new Set(rows.map((row) => row.instance_id))).toEqual(new Set([other]));
  });

  test("rejects a query without any word", async () => {
    await expect(list({ q: "?!" })).rejects.toThrow("q:");
  });
});

describe("the search words of a message", () => {
  test("are the same with and without accents and capitals, each once", () => {
    expect(tokenize("Olá, OLA! Ação-rápida nº 7; straße Ελλάδα 東京")).toEqual([
      "ola",
      "acao",
      "rapida",
      "no",
      "7",
      "strasse",
      "ελλαδα",
      "東京",
    ]);
  });

  test("are limited in number and length", () => {
    const words = tokenize(Array.from({ length: 5_000 }, (_, n) => `${"x".repeat(100)}${n} y${n}`).join(" "));
    expect(words.length).toBeLessThanOrEqual(500);
    expect(Math.max(...words.map((word) => word.length))).toBeLessThanOrEqual(40);
  });

  test("contain the instance, and the type of a message that is not a text", () => {
    expect(searchWords(7, { kind: "text", text: "a b" })).toEqual(["7:a", "7:b"]);
    expect(searchWords(7, { kind: "location", latitude: 1, longitude: 2, name: "Café" })).toEqual([
      "7:cafe",
      "7:#location",
    ]);
  });
});
