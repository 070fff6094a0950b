import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../../test/stories/messaging-story.ts";
import { newMessage } from "../../../../test/stories/new-message.ts";
import { phoneJid } from "../../../network/jid.ts";
import { openDatabase } from "../../../platform/db/database.ts";
import { createMessageInserter, insertMessages, type NewMessage } from "./insert-messages.ts";

let story: MessagingStory;
let account_id: number;

beforeAll(async () => {
  story = await startMessagingStory();
  account_id = (await story.gateway.owner.me()).data.account.id;
});
afterAll(() => story.stop());
beforeEach(async () => {
  await db().deleteFrom("message_usage").execute();
});

const db = () => story.gateway.database.db;
const sales = () => ({ id: story.sales.id });
let personCount = 0;
const newNumber = () => `55117${7000 + personCount++}1111`;
const used = async () =>
  (await db().selectFrom("message_usage").select("used").execute()).map((row) => row.used);

async function allow(max_messages: number | null): Promise<void> {
  const { plan_id } = await db()
    .selectFrom("account")
    .select("plan_id")
    .where("id", "=", account_id)
    .executeTakeFirstOrThrow();
  await db().updateTable("plan").set({ max_messages }).where("id", "=", plan_id).execute();
}

const messageOf = (over: Partial<NewMessage> = {}) =>
  newMessage({ account_id, instance_id: story.sales.id, max_messages: 30, ...over });

const isTaken = (taken: PromiseSettledResult<unknown>) => taken.status === "fulfilled";

describe("a monthly message limit", () => {
  test("accepts sends up to the limit, reports the usage, and stores nothing of excess sends", async () => {
    await allow(2);
    const number = newNumber();
    await story.sales.client.sendText({ ...sales(), number, text: "One" });
    await story.sales.client.sendText({ ...sales(), number, text: "Two" });
    const { data } = await story.sales.client.getInstance(sales());
    expect(data.limits).toMatchObject({ max_messages: 2, messages_used: 2 });
    await waitUntil(async () => (await story.rows()).jobs === 0);
    const before = await story.rows();
    const file = { number, base64: inBase64(SAMPLE.png), async: true };
    const sendFile = () =>
      story.request(`POST /api/v1/instances/${story.sales.id}/send-media`, file, {
        "x-api-key": story.sales.api_key,
        "idempotency-key": "too-many",
      });
    const { status, body, headers } = await sendFile();
    expect([status, body.code]).toEqual([429, "MESSAGE_QUOTA_EXCEEDED"]);
    expect(body.details).toMatchObject({
      limit: 2,
      used: 2,
      left: 0,
      resets_at: data.limits.messages_reset_at,
    });
    expect(data.limits.messages_reset_at).toMatch(/^\d{4}-\d\d-01T00:00:00.000Z$/);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await story.rows()).toEqual(before);
    await allow(null);
    const { status: later } = await sendFile();
    expect(later).toBe(202);
    expect(await used()).toEqual([2]);
  });

  test("applies to the next send after the last one was accepted without a limit", async () => {
    const number = newNumber();
    await allow(null);
    await story.sales.client.sendText({ ...sales(), number, text: "One" });
    await allow(0);
    await expect(story.sales.client.sendText({ ...sales(), number, text: "Two" })).rejects.toMatchObject({
      code: "MESSAGE_QUOTA_EXCEEDED",
    });
    expect(await used()).toEqual([0]);
    await allow(null);
  });

  test("is not exceeded by two nodes that accept sends at the same moment", async () => {
    const nodes = [1, 2].map(() => openDatabase(story.gateway.database.url, { max: 1 }));
    try {
      const takings = nodes.flatMap(({ db: own }) => {
        const acceptor = createMessageInserter(own);
        return Array.from({ length: 40 }, () => acceptor.write(messageOf()));
      });
      const taken = await Promise.allSettled(takings);
      expect(taken.filter(isTaken)).toHaveLength(30);
      expect(await used()).toEqual([30]);
    } finally {
      for (const node of nodes) await node.close();
    }
  });

  test("counts two simultaneous sends with one key as one message", async () => {
    const acceptor = createMessageInserter(db());
    const idempotency = { route: "send-text", key: "once", fingerprint: "00" };
    const taken = await Promise.allSettled([
      acceptor.write(messageOf({ idempotency, max_messages: 2 })),
      acceptor.write(messageOf({ idempotency, max_messages: 2 })),
      acceptor.write(messageOf({ max_messages: 2 })),
      acceptor.write(messageOf({ max_messages: 2 })),
    ]);
    expect(taken.map((one) => (one.status === "fulfilled" ? typeof one.value : one.reason.code))).toEqual([
      "object",
      "undefined",
      "object",
      "MESSAGE_QUOTA_EXCEEDED",
    ]);
    expect(await used()).toEqual([2]);
  });

  test("starts again at zero with the month", async () => {
    await db().insertInto("message_usage").values({ account_id, month: "2020-01-01", used: 30 }).execute();
    const taken = await Promise.allSettled([createMessageInserter(db()).write(messageOf())]);
    expect(taken.filter(isTaken)).toHaveLength(1);
  });
});

test("a plan without a limit counts nothing, even next to one with a limit", async () => {
  const acceptor = createMessageInserter(db());
  const taken = await Promise.allSettled([
    acceptor.write(messageOf({ max_messages: null })),
    acceptor.write(messageOf({ max_messages: 0 })),
    acceptor.write(messageOf({ max_messages: null })),
  ]);
  expect(taken.map(isTaken)).toEqual([true, false, true]);
  expect(await used()).toEqual([0]);
  await sql`delete from job where lane = 0`.execute(db());
});

describe("the job of an accepted send", () => {
  const lane = 0;
  const chat = (n: number) => phoneJid(`55119000001${n}`);
  const insert = (...messages: Partial<NewMessage>[]) => {
    const acceptor = createMessageInserter(db());
    return Promise.all(messages.map((one) => acceptor.write(messageOf({ max_messages: null, ...one }))));
  };

  beforeEach(async () => {
    await sql`delete from job where lane = ${lane}`.execute(db());
  });

  test("is returned as it was stored if it is the first of its chat", async () => {
    const [inserted] = await insert({ jid: chat(1), mode: "sync" });
    const { rows } = await sql`
      select id, lane, prio, pos, grp, run_at, ref from job where lane = ${lane}`.execute(db());
    expect([inserted?.job]).toEqual(rows);
    expect(inserted?.job).toMatchObject({ prio: 0, pos: inserted?.id, grp: chat(1) });
  });

  test.each(["sync", "async"] as const)(
    "is not returned behind a waiting %s send of its chat",
    async (mode) => {
      await insert({ jid: chat(1), mode });
      const [behind, other] = await insert({ jid: chat(1), mode: "sync" }, { jid: chat(2), mode: "sync" });
      expect(behind).toEqual({ id: expect.any(Number), job: undefined });
      expect(other?.job).toMatchObject({ grp: chat(2) });
    },
  );

  test("is returned for the first of several sends to a chat in one batch", async () => {
    const inserted = await insert({ jid: chat(1) }, { jid: chat(1), mode: "sync" }, { jid: chat(2) });
    expect(inserted.map((one) => one?.job?.prio)).toEqual([0, undefined, 1]);
  });

  test("is not returned before it is due", async () => {
    const [later] = await insert({ jid: chat(1), run_at: new Date(Date.now() + 60_000) });
    expect(later).toEqual({ id: expect.any(Number), job: undefined });
  });

  test("is not returned while very many urgent jobs wait in its lane", async () => {
    await insert(
      ...Array.from({ length: 64 }, (_, n) => ({
        jid: phoneJid(`5511910000${100 + n}`),
        mode: "sync" as const,
      })),
    );
    const [one] = await insert({ jid: chat(1) });
    expect(one).toEqual({ id: expect.any(Number), job: undefined });
  });

  test("waits for a send of its chat that another node has just accepted", async () => {
    const number = newNumber();
    await story.sales.client.sendText({ ...sales(), number, text: "Zero" });
    const jid = phoneJid(number);
    const { conversation_id } = await db()
      .selectFrom("message")
      .select("conversation_id")
      .where("jid", "=", jid)
      .executeTakeFirstOrThrow();
    const { lane } = await db()
      .selectFrom("instance")
      .select("lane")
      .where("id", "=", story.sales.id)
      .executeTakeFirstOrThrow();
    // Its notification is lost.
    await insert({ lane, jid, conversation_id, content: { kind: "text", text: "One" }, hold_ms: 60_000 });
    await story.sales.client.sendText({ ...sales(), number, text: "Two" });
    const { rows } = await sql<{ text: string }>`
      select content ->> 'text' as text from message where conversation_id = ${conversation_id} and submitted_at is not null
      order by submitted_at`.execute(db());
    expect(rows.map(({ text }) => text)).toEqual(["Zero", "One", "Two"]);
  });

  test.each(["sync", "async"] as const)(
    "is found without reading the waiting sends of other chats (%s)",
    async (mode) => {
      const read = await db()
        .transaction()
        .execute(async (trx) => {
          await sql`
          insert into job (lane, prio, pos, grp, ref)
          select ${lane}::int, 1, n, 'chat' || n, '{"do": "send"}' from generate_series(1, 2000) n`.execute(
            trx,
          );
          await insertMessages(
            trx,
            Array.from({ length: 20 }, (_, n) => messageOf({ jid: chat(n), mode, max_messages: null })),
          );
          const { rows } = await sql<{ read: number }>`
          select pg_stat_get_xact_tuples_returned('job_waiting_send'::regclass) as read`.execute(trx);
          return rows[0]?.read;
        });
      expect(read).toBeLessThan(100);
    },
  );
});
