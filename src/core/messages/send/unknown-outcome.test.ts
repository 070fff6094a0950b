import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changeSandboxTiming } from "../../../../test/change-sandbox-timing.ts";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../../test/stories/messaging-story.ts";
import { SEND_ERROR } from "./send-error.ts";

// A late acknowledgement arrives after the caller's wait.
changeSandboxTiming({ slowAckMs: 1_000 });

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory({ WAYGATE_ACK_TIMEOUT: "500ms" });
});

afterAll(() => story.stop());

let personCount = 0;
/** An unused number whose last four digits select its sandbox behaviour. */
const newNumber = (last4: string) => `55119${5000 + personCount++}${last4}`;
const SILENT = "0002";
const SLOW = "0005";
const png = inBase64(SAMPLE.png);
const sales = () => ({ id: story.sales.id });

const logged = async (messageId: string) =>
  (await story.sales.client.getMessage({ ...sales(), messageId })).data;

const eventsAbout = (id: string, event: RegExp) =>
  story.receiver.received.flatMap(({ body: { event: name, data } }) =>
    event.test(name) &&
    (data.message?.message_id === id || data.message_id === id || data.message_ids?.includes(id))
      ? [name]
      : [],
  );

/** The job of a message, and whether it is due. */
async function jobOf(messageId: string): Promise<{ id: number; lane: number; isDue: boolean } | undefined> {
  const { rows } = await sql<{ id: number; lane: number; isDue: boolean }>`
    select j.id, j.lane, j.run_at <= now() as "isDue"
    from job j join message m on (j.ref ->> 'message')::bigint = m.id
    where m.message_id = ${messageId}`.execute(story.gateway.database.db);
  return rows[0];
}

const untilSettled = (messageId: string) => waitUntil(async () => (await jobOf(messageId)) === undefined);
const untilNoFiles = () => waitUntil(async () => (await story.rows()).files === 0);
const timesSent = async (message_id: string) => (await story.ledger({ message_id })).length;
const untilOutcomeUnknown = (messageId: string) =>
  waitUntil(async () => (await timesSent(messageId)) >= 1 && (await jobOf(messageId))?.isDue === false);

/** Ends the wait of one message for a receipt. */
async function endWait(messageId: string): Promise<void> {
  await untilOutcomeUnknown(messageId);
  const job = await jobOf(messageId);
  const { db } = story.gateway.database;
  await sql`update message set submitted_at = submitted_at - interval '61 seconds' where message_id = ${messageId}`.execute(
    db,
  );
  await sql`update job set run_at = now() where id = ${job?.id}`.execute(db);
  story.gateway.gateway.engine.wake([job?.lane ?? 0], { changed: true });
}

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

/** Sends until a send reaches the network before its caller's wait ends, which a busy machine may delay. */
async function sendInVain(last4: string, send: (number: string) => Promise<unknown>) {
  for (;;) {
    const number = newNumber(last4);
    const { code, status, details } = await refusalOf(send(number));
    expect([code, status]).toEqual(["SEND_TIMEOUT", 504]);
    if (details.sent === "unknown") return { number, message_id: details.message_id };
  }
}

const sendPhoto = (number: string) => story.sales.client.sendMedia({ ...sales(), number, base64: png });

describe.concurrent("a send that the network does not acknowledge in time", () => {
  test("times out, is sent again at once with the same id, and then fails as unknown, also for its key", async () => {
    const send = (number: string) =>
      story.sales.client.sendText({ ...sales(), number, text: "Anybody?" }, { idempotencyKey: number });
    const { number, message_id } = await sendInVain(SILENT, send);
    expect((await refusalOf(send(number))).details).toMatchObject({ message_id, sent: "unknown" });
    await waitUntil(async () => (await timesSent(message_id)) > 1);
    await untilOutcomeUnknown(message_id);
    expect([await timesSent(message_id), (await logged(message_id)).status]).toEqual([2, "pending"]);
    await endWait(message_id);
    expect((await story.outcome(message_id)).data.error.code).toBe("UNKNOWN_OUTCOME");
    expect(await timesSent(message_id)).toBe(2);
  });

  test("gets its outcome from a late acknowledgement, and the chat continues at once", async () => {
    const { message_id } = await sendInVain(SLOW, sendPhoto);
    expect((await story.outcome(message_id)).event).toBe("message.sent");
    await untilSettled(message_id);
    // Once if the acknowledgement came before the second attempt, which a busy machine may delay.
    expect(await timesSent(message_id)).toBeLessThanOrEqual(2);
    await untilNoFiles();
    await untilDownloaded(message_id);
  });

  test("gets its outcome from a receipt, and the chat continues at once", async () => {
    const { client } = story.sales;
    const { number, message_id } = await sendInVain(SILENT, sendPhoto);
    await untilOutcomeUnknown(message_id);
    await client.sandboxRead({ ...sales(), from: number, message_id });
    await story.event("message.read", message_id);
    expect(eventsAbout(message_id, /sent|failed|read/)).toEqual(["message.sent", "message.read"]);
    expect(await jobOf(message_id)).toBeUndefined();
    await untilNoFiles();
    const next = await client.sendText({ ...sales(), number, text: "and now?", async: true });
    await waitUntil(() => timesSent(next.pendingMessageId ?? ""));
  });

  test("read before its acknowledgement has one outcome, and its file can be downloaded", async () => {
    const { client } = story.sales;
    const number = newNumber(SLOW);
    const photo = { ...sales(), number, base64: png, async: true };
    const { pendingMessageId: message_id = "" } = await client.sendMedia(photo);
    await waitUntil(() => timesSent(message_id));
    await client.sandboxRead({ ...sales(), from: number, message_id });
    await story.outcome(message_id);
    await untilNoFiles();
    await untilDownloaded(message_id);
    expect(eventsAbout(message_id, /sent|failed/)).toHaveLength(1);
    expect((await logged(message_id)).status).toBe("read");
    await untilSettled(message_id);
  });

  test("fails with UNKNOWN_OUTCOME if the instance forbids repeats, and a receipt corrects it", async () => {
    const shop = await story.join({ name: "Careful" });
    const { id, client } = shop;
    await story.gateway.owner.updateInstance({ id, settings: { on_unknown: "fail" } });
    const number = newNumber(SILENT);
    const text = { id, number, text: "Once", async: true };
    const { pendingMessageId: message_id = "" } = await client.sendText(text);
    await endWait(message_id);
    const isOutcome = (body: { data?: { pendingMessageId?: string } }) =>
      body.data?.pendingMessageId === message_id;
    const [failed] = await story.receiver.waitFor(({ body }) => isOutcome(body));
    expect(failed?.body).toMatchObject({
      event: "message.failed",
      data: { error: { code: "UNKNOWN_OUTCOME" } },
    });
    await client.sandboxRead({ id, from: number, message_id });
    const read = async () => (await client.getMessage({ id, messageId: message_id })).data;
    await waitUntil(async () => (await read()).status === "read");
    expect((await read()).error).toBeNull();
    expect(await timesSent(message_id)).toBe(1);
    expect(story.receiver.received.filter(({ body }) => isOutcome(body))).toHaveLength(1);
  });

  test("lets a sync send behind it time out, which is never sent, frees its key and drops its file", async () => {
    const { client } = story.sales;
    const { number, message_id: ahead } = await sendInVain(SILENT, (to) =>
      client.sendText({ ...sales(), number: to, text: "in doubt" }),
    );
    const send = () =>
      refusalOf(client.sendMedia({ ...sales(), number, base64: png }, { idempotencyKey: "behind" }));
    const behind = await send();
    expect(behind).toMatchObject({ code: "SEND_TIMEOUT", status: 504, details: { sent: false } });
    const { message_id } = behind.details;
    expect((await story.outcome(message_id)).data.error).toEqual(SEND_ERROR.notBegun);
    await untilNoFiles();
    expect((await send()).details.message_id).not.toBe(message_id);
    await endWait(ahead);
    await untilSettled(message_id);
    expect(await timesSent(message_id)).toBe(0);
  });
});

describe.concurrent("an action without a response from the network", () => {
  const react = (number: string, message_id: string) =>
    story.sales.client.react({ ...sales(), number, message_id, reaction: "👍" });

  test("ends in SEND_TIMEOUT and leaves the lane free", async () => {
    const number = newNumber(SILENT);
    const target = { ...sales(), number, message_id: "3EB0SILENT" };
    await expect(react(number, target.message_id)).rejects.toMatchObject({
      code: "SEND_TIMEOUT",
      status: 504,
      details: { message_id: target.message_id },
    });
    await waitUntil(async () => {
      const { rows } = await sql`
        select from job where ref ->> 'do' = 'act' and grp like ${`%${number}%`}`.execute(
        story.gateway.database.db,
      );
      return rows.length === 0;
    });
    await waitUntil(() =>
      story.sales.client.markRead(target).then(
        ({ success }) => success,
        () => false,
      ),
    );
  });

  test("is still reported if the response arrives late", async () => {
    for (let n = 0; ; n++) {
      const message_id = `3EB0SLOW${n}`;
      await expect(react(newNumber(SLOW), message_id)).rejects.toMatchObject({ code: "SEND_TIMEOUT" });
      if ((await story.ledger({ action: "react", target_id: message_id })).length === 0) continue;
      expect((await story.event("message.reaction", message_id)).data).toMatchObject({ reaction: "👍" });
      expect(eventsAbout(message_id, /reaction/)).toHaveLength(1);
      return;
    }
  });

  test("does not wait for a send with an unknown outcome in the same chat", async () => {
    const { client } = story.sales;
    const { number, message_id } = await sendInVain(SILENT, (to) =>
      client.sendText({ ...sales(), number: to, text: "?" }),
    );
    await untilOutcomeUnknown(message_id);
    const { data } = await client.sandboxReceive({ ...sales(), from: number, text: "Oi" });
    await story.event("message.received", data.message_id);
    await client.markRead({ ...sales(), message_id: data.message_id }).catch(() => {});
    await story.event("message.read", data.message_id);
    expect((await logged(message_id)).status).toBe("pending");
  });
});
