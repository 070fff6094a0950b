import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TestInstance } from "../../../../test/gateway.ts";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { createSecondRecorder } from "../../../../test/stories/engine/second-recorder.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../../test/stories/messaging-story.ts";
import { newMessage } from "../../../../test/stories/new-message.ts";
import { newMessageId, phoneJid } from "../../../network/jid.ts";
import { openDatabase } from "../../../platform/db/database.ts";
import { createMessageInserter, type NewMessage } from "./insert-messages.ts";
import { failOverdueSends } from "./outcome/fail-overdue-sends.ts";
import { failStuckSends } from "./outcome/fail-stuck-sends.ts";
import { SEND_ERROR } from "./send-error.ts";

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});

afterAll(() => story.stop());

const db = () => story.gateway.database.db;

async function laneOfSales(): Promise<number> {
  const instance = db().selectFrom("instance").select("lane").where("id", "=", story.sales.id);
  return (await instance.executeTakeFirstOrThrow()).lane;
}

describe("the file of a waiting send", () => {
  const filesLeft = async () => {
    const rows = await db().selectFrom("outgoing_media").select("id").distinct().execute();
    return rows.map(({ id }) => id);
  };
  const untilNoFiles = () => waitUntil(async () => (await filesLeft()).length === 0);
  const send = async (file: object) => {
    const { id, client } = story.sales;
    const media = { id, number: story.friend.phone, async: true, ...file };
    return (await client.sendMedia(media as never)).pendingMessageId ?? "";
  };
  const download = async (message_id: string, { id, client } = story.sales) =>
    Buffer.from((await client.downloadMedia({ id, message_id })).bytes ?? []);

  // Blocks all sends of the session until the restart.
  beforeEach(async () => story.gateway.gateway.engine.limitToGroups(await laneOfSales(), ["control"]));

  test("is sent after a restart and deleted when the send has its outcome", async () => {
    const file = Buffer.alloc(700_000, "Waygate ");
    const messageId = await send({ file: { bytes: file, file_name: "a.bin" } });
    const parts = await db().selectFrom("outgoing_media").select("part").execute();
    expect(parts.map(({ part }) => part).toSorted()).toEqual([0, 1, 2]);
    await story.restart();
    expect((await story.outcome(messageId)).event).toBe("message.sent");
    await untilNoFiles();
    await story.arrived(messageId);
    expect(file.equals(await download(messageId, story.friend))).toBe(true);
  });

  test("can be downloaded however long it waits, and files without a send are deleted", async () => {
    const messageId = await send({ base64: inBase64(SAMPLE.png) });
    expect(await download(messageId)).toEqual(SAMPLE.png);
    const [waiting = ""] = await filesLeft();
    const part = { account_id: 1, part: 0, bytes: SAMPLE.png };
    await db()
      .insertInto("outgoing_media")
      .values([
        { id: "upl_orphan", ...part },
        { id: "upl_arriving", ...part },
      ])
      .execute();
    await sql`update outgoing_media set created_at = now() - interval '2 hours' where id <> 'upl_arriving'`.execute(
      db(),
    );
    await story.gateway.advance(3_600_000);
    await waitUntil(async () => !(await filesLeft()).includes("upl_orphan"));
    expect((await filesLeft()).toSorted()).toEqual([waiting, "upl_arriving"].toSorted());
    await db().deleteFrom("outgoing_media").where("id", "=", "upl_arriving").execute();
    await story.restart();
    await story.outcome(messageId);
    await untilNoFiles();
  });

  test("fails the send if it is missing when it is needed", async () => {
    const messageId = await send({ base64: inBase64(SAMPLE.png) });
    await db().deleteFrom("outgoing_media").execute();
    await story.restart();
    expect((await story.outcome(messageId)).data.error).toEqual(SEND_ERROR.fileGone);
  });
});

let personCount = 0;
/** The network never acknowledges sends to these numbers. */
const silent = () => `55119${6000 + personCount++}0002`;

/** Queues one send without an acknowledgement and a second one of the same chat behind it. */
async function queueTwo({ id, client }: TestInstance) {
  const number = silent();
  const queue = async (text: string) =>
    (await client.sendText({ id, number, text, async: true })).pendingMessageId ?? "";
  const [begun, behind] = [await queue("first"), await queue("second")];
  await waitUntil(async () => (await story.ledger({ message_id: begun })).length === 1);
  return { begun, behind };
}

const failureOf = async (instance: TestInstance, messageId: string) => {
  const [found] = await story.receiver.waitFor(
    ({ body }) =>
      body.event === "message.failed" &&
      body.instance.id === instance.id &&
      body.data.message.message_id === messageId,
  );
  return found?.body.data.error;
};

test.each(["banned", "logged out"])(
  "the waiting sends of an instance that is %s fail at once with that reason",
  async (end) => {
    const instance = await story.join({ name: end });
    const { begun, behind } = await queueTwo(instance);
    if (end === "banned") await instance.client.sandboxBan({ id: instance.id });
    else await instance.client.logoutInstance({ id: instance.id });
    expect(await failureOf(instance, behind)).toMatchObject({
      code: "INSTANCE_NOT_CONNECTED",
      message: expect.stringContaining(end),
      retryable: false,
    });
    expect(await failureOf(instance, begun)).toMatchObject({ code: "UNKNOWN_OUTCOME" });
  },
);

test("a sync send that waits behind another one fails at once when its instance is banned", async () => {
  const instance = await story.join({ name: "Impatient" });
  const number = silent();
  const { id, client } = instance;
  const { pendingMessageId = "" } = await client.sendText({ id, number, text: "first", async: true });
  await waitUntil(async () => (await story.ledger({ message_id: pendingMessageId })).length === 1);
  const { messages } = await story.rows();
  const refused = client.sendText({ id, number, text: "second" }).catch((error: unknown) => error);
  await waitUntil(async () => (await story.rows()).messages > messages);
  await client.sandboxBan({ id });
  expect(await refused).toMatchObject({ code: "INSTANCE_NOT_CONNECTED", status: 409 });
});

test("a send that starts while its instance is banned keeps its job until it has an outcome", async () => {
  const instance = await story.join({ name: "Begins" });
  const { behind } = await queueTwo(instance);
  const { outcomes } = createSecondRecorder(story.gateway);
  let failing = Promise.resolve();
  await db()
    .transaction()
    .execute(async (trx) => {
      await sql`update message set submitted_at = now() where message_id = ${behind}`.execute(trx);
      await db().updateTable("instance").set({ status: "banned" }).where("id", "=", instance.id).execute();
      failing = failStuckSends(db(), outcomes);
      await waitUntil(isSomebodyWaiting);
    });
  await failing;
  await failStuckSends(db(), outcomes);
  expect(await failureOf(instance, behind)).toMatchObject({ code: "UNKNOWN_OUTCOME" });
});

async function isSomebodyWaiting(): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`.execute(
    db(),
  );
  return rows.length > 0;
}

let number: string;

/** An unused number whose last four digits choose its behaviour in the sandbox. */
const newNumber = (last4: string) => `55119${5000 + personCount++}${last4}`;

beforeEach(() => {
  number = newNumber("1111");
});

const png = inBase64(SAMPLE.png);

const send = (key: string, body: object) =>
  story.request(`POST /api/v1/instances/${story.sales.id}/send-media`, body, {
    "x-api-key": story.sales.api_key,
    "idempotency-key": key,
  });

const sendText = (idempotencyKey: string) => {
  const { client, id } = story.sales;
  return client.sendText({ id, number, text: "Daily" }, { idempotencyKey });
};

async function newKeyedMessage(key: string): Promise<NewMessage> {
  const { account } = (await story.gateway.owner.me()).data;
  const idempotency = { route: "send-text", key, fingerprint: "00" };
  const instance_id = story.sales.id;
  return newMessage({ account_id: account.id, instance_id, jid: phoneJid(number), idempotency });
}

describe("a repeated idempotency key", () => {
  test.each([false, true])("returns the first response, marked as repeated (async: %j)", async (async) => {
    const body = { number, base64: png, async };
    const first = await send(`twice-${async}`, body);
    const second = await send(`"twice-${async}"`, body);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect([second.status, second.body.data.message_id, second.body.jobId]).toEqual([
      first.status,
      first.body.data.message_id,
      first.body.jobId,
    ]);
  });

  test("with another body is rejected, even if the body differs only in a file", async () => {
    await send("mismatch", { number, base64: png });
    const { status, body } = await send("mismatch", { number, base64: inBase64(SAMPLE.jpeg) });
    expect([status, body.code]).toEqual([422, "IDEMPOTENCY_MISMATCH"]);
  });

  test("returns the failure of the first request, and nothing is sent again", async () => {
    const body = { number: newNumber("0001"), base64: png };
    const [first, second] = [await send("failed", body), await send("failed", body)];
    expect([first.status, first.body.code]).toEqual([502, "SEND_FAILED"]);
    expect(second.body).toMatchObject({ code: "SEND_FAILED", details: first.body.details });
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await story.ledger({ message_id: first.body.details.message_id })).toHaveLength(1);
  });

  test("returns Retry-After while the first request has no outcome yet", async () => {
    const lane = await laneOfSales();
    const { engine } = story.gateway.gateway;
    const { keys } = await story.rows();
    engine.limitToGroups(lane, ["control"]);
    // Only a send that waits behind another one keeps to this limit.
    await send("ahead", { number, base64: png, async: true });
    const first = send("running", { number, base64: png });
    await waitUntil(async () => (await story.rows()).keys === keys + 2);
    const second = await send("running", { number, base64: png });
    engine.limitToGroups(lane, null);
    expect([second.status, second.body.code]).toEqual([409, "IDEMPOTENCY_IN_PROGRESS"]);
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await first).status).toBe(200);
  });

  test("in ten simultaneous requests creates one message, and the other files are deleted", async () => {
    const body = { number, base64: png, async: true };
    const responses = await Promise.all(Array.from({ length: 10 }, () => send("at-once", body)));
    const jobs = new Set(responses.map((response) => response.body.jobId));
    expect([jobs.size, responses.every(({ status }) => status === 202)]).toEqual([1, true]);
    await story.outcome(responses[0]?.body.pendingMessageId);
    await waitUntil(async () => (await story.rows()).files === 0);
  });

  test("is a different key on another route and as a client_message_id, which is a key itself", async () => {
    const { client, id } = story.sales;
    const text = { id, number, text: "Hi" };
    const named = () => client.sendText({ ...text, client_message_id: "mine" });
    const ids = [
      (await client.sendText(text, { idempotencyKey: "mine" })).data.message_id,
      (await named()).data.message_id,
      (await client.send({ number, text: "Hi" }, { idempotencyKey: "mine" })).data.message_id,
    ];
    expect(new Set(ids).size).toBe(3);
    expect((await named()).data.message_id).toBe(ids[1]);
  });

  test("on two nodes at the same moment creates one message", async () => {
    const other = openDatabase(story.gateway.database.url, { max: 1 });
    try {
      const first = await newKeyedMessage("two nodes");
      const second = { ...first, message_id: newMessageId() };
      let late: Promise<unknown> = Promise.resolve();
      const early = await db()
        .transaction()
        .execute(async (trx) => {
          const inserted = await createMessageInserter(trx).write(first);
          late = createMessageInserter(other.db).write(second);
          await waitUntil(isSomebodyWaiting);
          return inserted;
        });
      expect([early, await late]).toEqual([expect.objectContaining({ id: expect.any(Number) }), undefined]);
    } finally {
      await other.close();
    }
  });

  test("can be used again some time after its message is deleted", async () => {
    const acceptor = createMessageInserter(db());
    const message = await newKeyedMessage("gone");
    const { id = 0 } = (await acceptor.write(message)) ?? {};
    await db().deleteFrom("message").where("id", "=", id).execute();
    const again = { ...message, message_id: newMessageId() };
    expect(await acceptor.write(again)).toBeUndefined();
    await sql`update idempotency set created_at = now() - interval '2 minutes' where key = 'gone'`.execute(
      db(),
    );
    expect(await acceptor.write(again)).toMatchObject({ id: expect.any(Number) });
  });

  test("is free again once the sweep has ended a sync send that never began", async () => {
    const { data } = await story.gateway.owner.createInstance({ name: "Offline", network: "sandbox" });
    const keyed = { ...(await newKeyedMessage("swept")), instance_id: data.id };
    const { id: conversation_id } = await db()
      .insertInto("conversation")
      .values({ account_id: keyed.account_id, instance_id: data.id, type: "contact", jid: keyed.jid })
      .returning("id")
      .executeTakeFirstOrThrow();
    const acceptor = createMessageInserter(db());
    const waiting = { ...keyed, conversation_id, mode: "sync" as const, hold_ms: 60_000 };
    expect(await acceptor.write(waiting)).toBeDefined();
    const again = { ...waiting, message_id: newMessageId() };
    expect(await acceptor.write(again)).toBeUndefined();
    await sql`update message set deadline = now() where message_id = ${waiting.message_id}`.execute(db());
    await failOverdueSends(db(), createSecondRecorder(story.gateway).outcomes, 1000);
    expect(await acceptor.write(again)).toBeDefined();
  });

  test("that is not committed yet is accepted by the request that waits for it, however old it is", async () => {
    const { pool } = story.gateway.database;
    await sendText("early");
    const hung = await pool.connect();
    try {
      // An uncommitted transaction: its message and key are not visible yet.
      await hung.query("begin");
      await hung.query(`
        with twin as (
          insert into message select (jsonb_populate_record(m, jsonb_build_object(
            'id', nextval('message_id_seq'), 'message_id', 'HUNG', 'job_id', 'hung'))).*
          from message m join idempotency i on i.message = m.id where i.key = 'key:early'
          returning id
        )
        insert into idempotency (account_id, instance_id, route, key, fingerprint, message, created_at)
        select account_id, instance_id, route, 'key:hung', fingerprint, twin.id, now() - interval '2 minutes'
        from idempotency, twin where key = 'key:early'`);
      const response = sendText("hung").then(
        ({ data }) => data.message_id,
        ({ code }: { code: string }) => code,
      );
      await waitUntil(isSomebodyWaiting);
      await hung.query("commit");
      // The waiting request may have timed out.
      expect(["HUNG", "UNAVAILABLE"]).toContain(await response);
    } finally {
      hung.release(true);
    }
    const { rows } = await pool.query(
      "select from message where content ->> 'text' = 'Daily' and jid like $1",
      [`${number}@%`],
    );
    expect(rows).toHaveLength(2);
  });
});
