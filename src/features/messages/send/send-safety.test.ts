import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changeSandboxTiming } from "../../../../test/change-sandbox-timing.ts";
import { type MessagingStory, startMessagingStory, waitUntil } from "../../../../test/messaging-story.ts";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { createSecondRecorder } from "../../../../test/second-recorder.ts";
import type { MessageId } from "../../../network/driver.ts";
import { newMessageId, phoneJid } from "../../../network/jid.ts";
import { openDatabase } from "../../../platform/db/database.ts";
import { createMessageInserter, type NewMessage } from "./insert-messages.ts";
import { SEND_ERROR } from "./send-error.ts";

// Leaves time to start, and makes late acknowledgements late even on a machine that stalls for seconds.
changeSandboxTiming({ slowAckMs: 9_000 });

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory({ WAYGATE_ACK_TIMEOUT: "5s" });
});

afterAll(() => story.stop());

let personCount = 0;
/** An unused number whose last four digits choose its behaviour in the sandbox. */
const newNumber = (last4: string) => `55119${5000 + personCount++}${last4}`;
const png = inBase64(SAMPLE.png);
const sales = () => ({ id: story.sales.id });

const logged = async (messageId: string) =>
  (await story.sales.client.getMessage({ ...sales(), messageId })).data;

const told = (event: RegExp, id: string) =>
  story.receiver.received.filter(
    ({ body }) =>
      event.test(body.event) &&
      body.instance.id === story.sales.id &&
      (body.data.message?.message_id === id || body.data.message_ids?.includes(id)),
  );

/** The job of a message, and whether it is due. */
async function jobOf(messageId: string): Promise<{ isDue: boolean } | undefined> {
  const { rows } = await sql<{ isDue: boolean }>`
    select j.run_at <= now() as "isDue" from job j join message m on (j.ref ->> 'message')::bigint = m.id
    where m.message_id = ${messageId}`.execute(story.gateway.database.db);
  return rows[0];
}

const untilSettled = (messageId: string) => waitUntil(async () => (await jobOf(messageId)) === undefined);
const untilInDoubt = (messageId: string) =>
  waitUntil(async () => {
    const { length } = await story.ledger({ message_id: messageId });
    return length >= 1 && (await jobOf(messageId))?.isDue === false;
  });

/** A receipt may arrive before the acknowledgement, which contains the media reference. */
const untilDownloaded = (message_id: string) =>
  waitUntil(() =>
    story.sales.client.downloadMedia({ ...sales(), message_id }).then(
      ({ bytes }) => SAMPLE.png.equals(bytes ?? Buffer.alloc(0)),
      () => false,
    ),
  );

/** The error of a send, with the id of its message. */
async function refusalOf(sending: Promise<unknown>) {
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error as { code: string; status: number; details: { message_id: string; sent: unknown } };
}

describe("a repeated idempotency key", () => {
  const send = (key: string, body: object) =>
    story.request(`POST /api/v1/instances/${story.sales.id}/send-media`, body, {
      "x-api-key": story.sales.api_key,
      "idempotency-key": key,
    });

  test("returns the first response, marked as repeated", async () => {
    for (const async of [false, true]) {
      const body = { number: newNumber("1111"), base64: png, async };
      const first = await send(`twice-${async}`, body);
      const second = await send(`"twice-${async}"`, body);
      expect(first.headers.get("idempotent-replayed")).toBeNull();
      expect(second.headers.get("idempotent-replayed")).toBe("true");
      expect([second.status, second.body.data.message_id, second.body.jobId]).toEqual([
        first.status,
        first.body.data.message_id,
        first.body.jobId,
      ]);
    }
  });

  test("with another body is rejected, even if the body differs only in a file", async () => {
    const number = newNumber("1111");
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
    const body = { number: newNumber("0005"), base64: png };
    const { keys } = await story.rows();
    const first = send("running", body);
    await waitUntil(async () => (await story.rows()).keys > keys);
    const second = await send("running", body);
    expect([second.status, second.body.code]).toEqual([409, "IDEMPOTENCY_IN_PROGRESS"]);
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
    await first;
  });

  test("in ten simultaneous requests creates one message, and the other files are deleted", async () => {
    const body = { number: newNumber("1111"), base64: png, async: true };
    const responses = await Promise.all(Array.from({ length: 10 }, () => send("at-once", body)));
    const jobs = new Set(responses.map((response) => response.body.jobId));
    expect([jobs.size, responses.every(({ status }) => status === 202)]).toEqual([1, true]);
    await story.outcome(responses[0]?.body.pendingMessageId);
    await waitUntil(async () => (await story.rows()).files === 0);
  });

  test("is a different key on another route and as a client_message_id", async () => {
    const { client } = story.sales;
    const text = { ...sales(), number: newNumber("1111"), text: "Hi" };
    const ids = [
      (await client.sendText(text, { idempotencyKey: "mine" })).data.message_id,
      (await client.sendText({ ...text, client_message_id: "mine" })).data.message_id,
      (await client.send({ number: text.number, text: "Hi" }, { idempotencyKey: "mine" })).data.message_id,
    ];
    expect(new Set(ids).size).toBe(3);
  });

  test("on two nodes at the same moment creates one message", async () => {
    const other = openDatabase(story.gateway.database.url, { max: 1 });
    try {
      const idempotency = { route: "send-text", key: "two nodes", fingerprint: "00" };
      const first = await newMessage({ idempotency });
      const second = { ...first, message_id: newMessageId() };
      let late: Promise<unknown> = Promise.resolve();
      const early = await story.gateway.database.db.transaction().execute(async (trx) => {
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

  test("can be used again after its message is deleted", async () => {
    const { db } = story.gateway.database;
    const acceptor = createMessageInserter(db);
    const message = await newMessage({ idempotency: { route: "send-text", key: "gone", fingerprint: "00" } });
    const first = await acceptor.write(message);
    await db
      .deleteFrom("message")
      .where("id", "=", first?.id ?? 0)
      .execute();
    const again = { ...message, message_id: newMessageId() };
    expect(await acceptor.write(again)).toBeUndefined();
    await db
      .updateTable("idempotency")
      .set({ created_at: sql`now() - interval '2 minutes'` })
      .where("key", "=", "gone")
      .execute();
    expect(await acceptor.write(again)).toMatchObject({ id: expect.any(Number) });
  });
});

async function isSomebodyWaiting(): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`.execute(
    story.gateway.database.db,
  );
  return rows.length > 0;
}

/** A send as the routes create it, for a lane without an owner. */
async function newMessage(over: Partial<NewMessage>): Promise<NewMessage> {
  const { db } = story.gateway.database;
  const { account_id } = await db
    .selectFrom("instance")
    .select("account_id")
    .where("id", "=", story.sales.id)
    .executeTakeFirstOrThrow();
  return {
    account_id,
    instance_id: story.sales.id,
    lane: 0,
    conversation_id: 0,
    message_id: newMessageId(),
    job_id: "job_test",
    jid: phoneJid("5511900000007"),
    origin: "api",
    mode: "async",
    type: "text",
    content: { kind: "text", text: "Hi" },
    client_message_id: null,
    track_id: null,
    metadata: null,
    delay_ms: null,
    hold_ms: 1000,
    idempotency: null,
    max_messages: null,
    ...over,
  };
}

describe("a sync send that times out", () => {
  test("before it starts is never sent, frees its key, drops its file and is reported", async () => {
    const { client } = story.sales;
    const number = newNumber("0002");
    const ahead = await refusalOf(client.sendText({ ...sales(), number, text: "in doubt" }));
    expect(ahead).toMatchObject({ code: "SEND_TIMEOUT", details: { sent: "unknown" } });
    const key = { idempotencyKey: "behind" };
    const behind = await refusalOf(client.sendMedia({ ...sales(), number, base64: png }, key));
    expect(behind).toMatchObject({ code: "SEND_TIMEOUT", status: 504, details: { sent: false } });
    const { message_id } = behind.details;
    expect((await story.outcome(message_id)).data.error).toEqual(SEND_ERROR.notBegun);
    await waitUntil(async () => (await story.rows()).files === 0);
    const again = await refusalOf(client.sendMedia({ ...sales(), number, base64: png }, key));
    expect(again.details.message_id).not.toBe(message_id);
    await story.gateway.advance(61_000);
    await untilSettled(message_id);
    expect(await story.ledger({ message_id })).toEqual([]);
  });
});

describe("a send that the network does not acknowledge in time", () => {
  test("gets its outcome from a late acknowledgement, and the chat continues at once", async () => {
    const { client } = story.sales;
    const number = newNumber("0005");
    const refused = await refusalOf(client.sendMedia({ ...sales(), number, base64: png }));
    expect(refused).toMatchObject({ code: "SEND_TIMEOUT", details: { sent: "unknown" } });
    const { message_id } = refused.details;
    expect((await story.outcome(message_id)).event).toBe("message.sent");
    await untilSettled(message_id);
    expect(await story.ledger({ message_id })).toHaveLength(2);
    await waitUntil(async () => (await story.rows()).files === 0);
    await untilDownloaded(message_id);
  });

  test("gets its outcome from a receipt, and the chat continues at once", async () => {
    const { client } = story.sales;
    const number = newNumber("0002");
    const { details } = await refusalOf(client.sendMedia({ ...sales(), number, base64: png }));
    await untilInDoubt(details.message_id);
    await client.sandboxRead({ ...sales(), from: number, message_id: details.message_id });
    await story.event("message.read", details.message_id);
    expect(told(/sent|failed|read/, details.message_id).map(({ body }) => body.event)).toEqual([
      "message.sent",
      "message.read",
    ]);
    expect(await jobOf(details.message_id)).toBeUndefined();
    await waitUntil(async () => (await story.rows()).files === 0);
    const next = await refusalOf(client.sendText({ ...sales(), number, text: "and now?" }));
    expect(next.details.sent).toBe("unknown");
  });

  test("read before its acknowledgement has one outcome, and its file can be downloaded", async () => {
    const { client } = story.sales;
    const number = newNumber("0005");
    const { pendingMessageId = "" } = await client.sendMedia({
      ...sales(),
      number,
      base64: png,
      async: true,
    });
    await waitUntil(async () => (await story.ledger({ message_id: pendingMessageId })).length === 1);
    await client.sandboxRead({ ...sales(), from: number, message_id: pendingMessageId });
    await story.outcome(pendingMessageId);
    await waitUntil(async () => (await story.rows()).files === 0);
    await untilDownloaded(pendingMessageId);
    expect(told(/sent|failed/, pendingMessageId)).toHaveLength(1);
    expect((await logged(pendingMessageId)).status).toBe("read");
    await untilSettled(pendingMessageId);
  });

  test("is sent again at once with the same id, and fails if that is not acknowledged either", async () => {
    const { client } = story.sales;
    const number = newNumber("0002");
    const { pendingMessageId = "" } = await client.sendText({
      ...sales(),
      number,
      text: "Again",
      async: true,
    });
    await untilInDoubt(pendingMessageId);
    expect(await story.ledger({ message_id: pendingMessageId })).toHaveLength(2);
    expect((await logged(pendingMessageId)).status).toBe("pending");
    await story.gateway.advance(61_000);
    expect((await story.outcome(pendingMessageId)).data.error.code).toBe("UNKNOWN_OUTCOME");
    expect(await story.ledger({ message_id: pendingMessageId })).toHaveLength(2);
  });

  test("fails with UNKNOWN_OUTCOME if the instance forbids repeats, and a receipt corrects it", async () => {
    const shop = await story.join({ name: "Careful" });
    await story.gateway.owner.updateInstance({ id: shop.id, settings: { on_unknown: "fail" } });
    const number = newNumber("0002");
    const { pendingMessageId = "" } = await shop.client.sendText({
      id: shop.id,
      number,
      text: "Once",
      async: true,
    });
    await untilInDoubt(pendingMessageId);
    await story.gateway.advance(61_000);
    const failed = await story.receiver.waitFor(
      ({ body }) => body.event === "message.failed" && body.data.pendingMessageId === pendingMessageId,
    );
    expect(failed[0]?.body.data.error.code).toBe("UNKNOWN_OUTCOME");
    await shop.client.sandboxRead({ id: shop.id, from: number, message_id: pendingMessageId });
    const status = async () =>
      (await shop.client.getMessage({ id: shop.id, messageId: pendingMessageId })).data;
    await waitUntil(async () => (await status()).status === "read");
    expect((await status()).error).toBeNull();
    expect(await story.ledger({ message_id: pendingMessageId })).toHaveLength(1);
    const outcomes = story.receiver.received.filter(
      ({ body }) => body.data?.pendingMessageId === pendingMessageId,
    );
    expect(outcomes.map(({ body }) => body.event)).toEqual(["message.failed"]);
  });
});

describe("the outcome of a send", () => {
  const recorders = () => createSecondRecorder(story.gateway);
  const sent = async () => {
    const { data } = await story.sales.client.sendText({ ...sales(), number: newNumber("0003"), text: "Hi" });
    await story.event("message.delivered", data.message_id ?? "");
    return {
      id: data.id ?? 0,
      message_id: (data.message_id ?? "") as MessageId,
      jid: phoneJid(data.jid?.split("@")[0] ?? ""),
    };
  };

  test("is recorded once, and later reports change nothing", async () => {
    const { outcomes } = recorders();
    const { id, message_id } = await sent();
    const failed = {
      id,
      instance_id: story.sales.id,
      status: "failed",
      at: new Date(),
      error: SEND_ERROR.unknownOutcome,
      job: null,
    } as const;
    await outcomes.record(failed);
    await outcomes.record({ ...failed, status: "sent", error: null });
    expect((await logged(message_id)).status).toBe("delivered");
    expect(told(/sent|failed/, message_id)).toHaveLength(1);
  });

  test("is not set by an expired hold time if the send has started meanwhile", async () => {
    const { db } = story.gateway.database;
    const { outcomes } = recorders();
    const { id = 0 } = (await createMessageInserter(db).write(await newMessage({}))) ?? {};
    await db.updateTable("message").set({ submitted_at: new Date() }).where("id", "=", id).execute();
    const expired = {
      id,
      instance_id: story.sales.id,
      status: "failed",
      at: new Date(),
      error: SEND_ERROR.neverConnected,
      job: null,
    } as const;
    await outcomes.record({ ...expired, only_if_not_submitted: true });
    const row = () => db.selectFrom("message").select("status").where("id", "=", id).executeTakeFirst();
    expect(await row()).toEqual({ status: "pending" });
    await db.updateTable("message").set({ submitted_at: null }).where("id", "=", id).execute();
    await outcomes.record({ ...expired, only_if_not_submitted: true });
    expect(await row()).toEqual({ status: "failed" });
  });

  test("is followed by statuses that only advance", async () => {
    const { receipts } = recorders();
    const { message_id, jid } = await sent();
    const receipt = {
      instance_id: story.sales.id,
      chat: jid,
      ids: [message_id],
      from_me: true,
      at: new Date(),
    };
    for (const status of ["played", "read", "delivered", "sent"] as const)
      await receipts.record({ ...receipt, status });
    expect((await logged(message_id)).status).toBe("played");
    await story.event("message.read", message_id);
    expect(told(/read|delivered/, message_id).map(({ body }) => body.event)).toEqual([
      "message.delivered",
      "message.read",
    ]);
  });
});

describe("the file of a waiting send", () => {
  /** Blocks all sends of the session until it is released. */
  const hold = async () => {
    const { lane } = await story.gateway.database.db
      .selectFrom("instance")
      .select("lane")
      .where("id", "=", story.sales.id)
      .executeTakeFirstOrThrow();
    story.gateway.gateway.engine.limitToGroups(lane, ["control"]);
  };
  const age = (id: string) =>
    sql`update outgoing_media set created_at = now() - interval '2 hours' where id = ${id}`.execute(
      story.gateway.database.db,
    );
  const filesLeft = async () => {
    const { db } = story.gateway.database;
    const rows = await db.selectFrom("outgoing_media").select("id").distinct().execute();
    return rows.map(({ id }) => id);
  };

  test("is sent after a restart and deleted when the send has its outcome", async () => {
    await hold();
    const file = Buffer.alloc(700_000, "Waygate ");
    const { friend } = story;
    const { pendingMessageId = "" } = await story.sales.client.sendMedia({
      ...sales(),
      number: friend.phone,
      file: { bytes: file, file_name: "a.bin" },
      async: true,
    });
    const parts = await story.gateway.database.db.selectFrom("outgoing_media").select("part").execute();
    expect(parts.map(({ part }) => part).toSorted()).toEqual([0, 1, 2]);
    await story.restart();
    expect((await story.outcome(pendingMessageId)).event).toBe("message.sent");
    await waitUntil(async () => (await filesLeft()).length === 0);
    await story.arrived(pendingMessageId);
    const { bytes } = await story.friend.client.downloadMedia({
      id: friend.id,
      message_id: pendingMessageId,
    });
    expect(file.equals(bytes ?? Buffer.alloc(0))).toBe(true);
  });

  test("can be downloaded however long it waits, and files without a send are deleted", async () => {
    await hold();
    const { db } = story.gateway.database;
    const { client } = story.sales;
    const { pendingMessageId = "" } = await client.sendMedia({
      ...sales(),
      number: newNumber("1111"),
      base64: png,
      async: true,
    });
    const { bytes } = await client.downloadMedia({ ...sales(), message_id: pendingMessageId });
    expect(Buffer.from(bytes ?? [])).toEqual(SAMPLE.png);
    const [waiting = ""] = await filesLeft();
    await db
      .insertInto("outgoing_media")
      .values([
        { id: "upl_orphan", part: 0, bytes: SAMPLE.png },
        { id: "upl_arriving", part: 0, bytes: SAMPLE.png },
      ])
      .execute();
    await age(waiting);
    await age("upl_orphan");
    await story.gateway.advance(3_600_000);
    await waitUntil(async () => !(await filesLeft()).includes("upl_orphan"));
    expect((await filesLeft()).toSorted()).toEqual([waiting, "upl_arriving"].toSorted());
    await db.deleteFrom("outgoing_media").where("id", "=", "upl_arriving").execute();
    await story.restart();
    await story.outcome(pendingMessageId);
    await waitUntil(async () => (await filesLeft()).length === 0);
  });

  test("fails the send if it is missing when it is needed", async () => {
    await hold();
    const { client } = story.sales;
    const { pendingMessageId = "" } = await client.sendMedia({
      ...sales(),
      number: newNumber("1111"),
      base64: png,
      async: true,
    });
    await story.gateway.database.db.deleteFrom("outgoing_media").execute();
    await story.restart();
    expect((await story.outcome(pendingMessageId)).data.error).toEqual(SEND_ERROR.fileGone);
  });
});
