import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../../test/stories/messaging-story.ts";
import { SEND_ERROR } from "../send/send-error.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});
afterAll(() => story.stop());

const db = () => story.gateway.database.db;
/** With an offset, as people write times. */
const fromNow = (ms: number) => new Date(Date.now() + ms - 3 * HOUR).toISOString().replace("Z", "-03:00");

async function schedule(text: string, ms: number, more: object = {}): Promise<string> {
  const { client, id } = story.sales;
  const body = { id, number: story.friend.phone, text, send_at: fromNow(ms), ...more };
  return (await client.sendText(body)).pendingMessageId ?? "";
}

const statusOf = async (messageId: string) =>
  (await story.sales.client.getMessage({ id: story.sales.id, messageId })).data.status;

const call = (http: string, body?: object) =>
  story.request(http.replace(":id", String(story.sales.id)), body, { "x-api-key": story.sales.api_key });

/** The network ids of the texts in the order in which the network got them. */
const sentTexts = async (...texts: string[]) => {
  const seen = await story.ledger({ action: "send" });
  return seen.map(({ content }) => content?.text).filter((text) => texts.includes(text));
};

describe("a scheduled message", () => {
  test("is accepted with 202 and goes out when it is due, behind what the chat has sent meanwhile", async () => {
    const { status, body } = await call("POST /api/v1/instances/:id/send-text", {
      number: story.friend.phone,
      text: "Happy birthday",
      sendAt: fromNow(HOUR),
    });
    expect([status, body.message]).toEqual([202, "Message scheduled"]);
    const { id, send_at } = body.data.message;
    expect(body.data.message).toEqual({ id, status: "scheduled", send_at });
    const { data } = await story.sales.client.sendText({
      id: story.sales.id,
      number: story.friend.phone,
      text: "See you tomorrow",
    });
    expect(data.status).toBe("sent");
    expect(await statusOf(body.data.message_id)).toBe("scheduled");
    await story.gateway.advance(HOUR);
    const { data: told } = await story.outcome(body.data.message_id);
    expect(told.message).toMatchObject({ status: "sent", text: "Happy birthday" });
    expect(await sentTexts("Happy birthday", "See you tomorrow")).toEqual([
      "See you tomorrow",
      "Happy birthday",
    ]);
    const { rows } = await sql`select from job where (ref ->> 'message')::bigint = ${id}`.execute(db());
    expect(rows).toEqual([]);
  });

  test("goes out in the order of the times and not of the requests", async () => {
    const later = await schedule("second in time", 2 * MINUTE);
    await schedule("first in time", MINUTE);
    await story.gateway.advance(2 * MINUTE);
    await story.outcome(later);
    expect(await sentTexts("first in time", "second in time")).toEqual(["first in time", "second in time"]);
  });

  test("sends all items of an album at its time, in their order", async () => {
    const { client, id } = story.sales;
    const captions = ["Sunrise", "Noon", "Sunset"];
    const items = captions.map((caption) => ({ base64: inBase64(SAMPLE.png), caption }));
    const { data } = await client.sendMedia({
      id,
      number: story.friend.phone,
      items,
      send_at: fromNow(MINUTE),
    });
    const accepted = data.items ?? [];
    expect(accepted.map(({ status }) => status)).toEqual(["scheduled", "scheduled", "scheduled"]);
    await story.gateway.advance(MINUTE);
    for (const { message_id } of accepted)
      expect((await story.outcome(message_id)).event).toBe("message.sent");
    const seen = await story.ledger({ action: "send" });
    expect(seen.flatMap(({ content }) => content?.caption ?? [])).toEqual(captions);
  });

  test("may be a question, of which expires_at says until when answers count", async () => {
    const { client, id } = story.sales;
    const options = ["Yes", "No"].map((text) => ({ id: text, text }));
    const question = {
      id,
      number: story.friend.phone,
      question: "Shall we?",
      options,
      send_at: fromNow(HOUR),
    };
    const { pendingMessageId = "" } = await client.ask({ ...question, expires_at: fromNow(30 * 24 * HOUR) });
    expect(await statusOf(pendingMessageId)).toBe("scheduled");
    await client.cancelScheduled({ id, messageId: pendingMessageId });
    await expect(client.ask({ ...question, expires_at: fromNow(MINUTE) })).rejects.toMatchObject({
      details: { fields: [{ field: "expires_at", code: "too_low" }] },
    });
  });

  test("keeps its file for months and sends it", async () => {
    const { client, id } = story.sales;
    const file = { number: story.friend.phone, base64: inBase64(SAMPLE.png) };
    const { pendingMessageId = "" } = await client.sendMedia({
      id,
      ...file,
      send_at: fromNow(90 * 24 * HOUR),
    });
    await sql`update outgoing_media set created_at = now() - interval '80 days'`.execute(db());
    await sql`update message set sent_at = now() - interval '80 days', created_at = now() - interval '80 days'
      where message_id = ${pendingMessageId}`.execute(db());
    await story.gateway.advance(90 * 24 * HOUR);
    expect((await story.outcome(pendingMessageId)).event).toBe("message.sent");
  });

  test.each([4 * MINUTE, -4 * MINUTE])(
    "is due by the clock of the database when that of the process jumps by %i ms",
    async (jump) => {
      const [soon, later] = [await schedule("soon", MINUTE), await schedule("later", 3 * MINUTE)];
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + jump });
      try {
        await story.gateway.advance(MINUTE);
        expect((await story.outcome(soon)).event).toBe("message.sent");
        expect(await statusOf(later)).toBe("scheduled");
      } finally {
        vi.useRealTimers();
      }
      await story.gateway.advance(2 * MINUTE);
      expect((await story.outcome(later)).event).toBe("message.sent");
    },
  );

  test("fails if the gateway was away until it had expired, and goes out if it had not", async () => {
    const [expired, kept] = [
      await schedule("too late", HOUR, { expires_at: fromNow(2 * HOUR) }),
      await schedule("in time", HOUR, { expires_at: fromNow(5 * HOUR) }),
    ];
    await story.gateway.gateway.engine.stop();
    await sql`update message set send_at = send_at - interval '3 hours', deadline = deadline - interval '3 hours'
      where status = 'scheduled'`.execute(db());
    await sql`update job set run_at = run_at - interval '3 hours' where ref ? 'scheduled'`.execute(db());
    await story.restart();
    expect((await story.outcome(expired)).data.error).toEqual(SEND_ERROR.notBegun);
    expect((await story.outcome(kept)).event).toBe("message.sent");
  });

  test("is listed with the next one first, page by page, until it is sent", async () => {
    const ids = [await schedule("c", 3 * HOUR), await schedule("a", HOUR), await schedule("b", 2 * HOUR)];
    const { client, id } = story.sales;
    const first = await client.listScheduled({ id, limit: 2 });
    const second = await client.listScheduled({ id, limit: 2, cursor: first.pagination.next_cursor ?? "" });
    const all = [...first.data, ...second.data];
    expect(all.map(({ text }) => text)).toEqual(["a", "b", "c"]);
    expect(all[0]).toMatchObject({ message_id: ids[1], status: "scheduled" });
    expect(Date.parse(all[0]?.expires_at ?? "")).toBeGreaterThan(Date.parse(all[0]?.send_at ?? ""));
    const filtered = await client.listMessages({ id, status: "scheduled" });
    expect(filtered.data.map(({ text }) => text).toSorted()).toEqual(["a", "b", "c"]);
    await story.gateway.advance(3 * HOUR);
    await Promise.all(ids.map((one) => story.outcome(one)));
    expect((await client.listScheduled({ id })).data).toEqual([]);
  });

  test("that is moved goes out at its new time", async () => {
    const { client, id } = story.sales;
    const moved = await schedule("moved", HOUR);
    const marker = await schedule("unmoved", HOUR);
    const { data } = await client.changeScheduled({ id, messageId: moved, send_at: fromNow(4 * HOUR) });
    expect(data).toMatchObject({ message_id: moved, status: "scheduled" });
    await story.gateway.advance(HOUR);
    await story.outcome(marker);
    expect(await statusOf(moved)).toBe("scheduled");
    await story.gateway.advance(3 * HOUR);
    await story.outcome(moved);
  });

  test("that is cancelled never goes out, and its one event says so", async () => {
    const { client, id } = story.sales;
    const media = { number: story.friend.phone, base64: inBase64(SAMPLE.png), send_at: fromNow(HOUR) };
    const { pendingMessageId: messageId = "" } = await client.sendMedia({ id, ...media });
    const { data } = await client.cancelScheduled({ id, messageId });
    expect(data).toMatchObject({ message_id: messageId, status: "cancelled" });
    const { event, data: told } = await story.outcome(messageId);
    expect([event, told.message.status, told.error]).toEqual([
      "message.failed",
      "cancelled",
      SEND_ERROR.cancelled,
    ]);
    expect(await story.rows()).toMatchObject({ files: 0, jobs: 0 });
  });

  test("fails when its instance is removed", async () => {
    const { client, id } = await story.join({ name: "Leaves" });
    const body = { id, number: story.friend.phone, text: "x", send_at: fromNow(HOUR) };
    const { pendingMessageId } = await client.sendText(body);
    await story.gateway.owner.deleteInstance({ id });
    const [failed] = await story.receiver.waitFor(
      ({ body: told }) =>
        told.event === "message.failed" && told.data.message.message_id === pendingMessageId,
    );
    expect(failed?.body.data.error).toEqual(SEND_ERROR.removed);
  });
});

describe("in the quiet hours of an instance", () => {
  const clockIn = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString().slice(11, 16);
  const setQuiet = async (quiet_hours: { from: string; to: string; time_zone: string } | null) => {
    const { id } = story.sales;
    await story.gateway.owner.updateInstance({ id, settings: { quiet_hours } });
  };
  beforeEach(() => setQuiet({ from: clockIn(-1), to: clockIn(1), time_zone: "UTC" }));
  afterEach(() => setQuiet(null));

  test("queued and due messages wait for the end, in their order, and a sync send passes them", async () => {
    const { client, id } = story.sales;
    const { number } = { number: story.friend.phone };
    const queue = async (text: string) =>
      (await client.sendText({ id, number, text, async: true })).pendingMessageId ?? "";
    const due = await schedule("due at night", MINUTE);
    await story.gateway.advance(MINUTE);
    await waitUntil(async () => (await planOf(due)) > HOUR / 2);
    const queued = [await queue("queued first"), await queue("queued second")];
    for (const one of queued) await waitUntil(async () => (await statusOf(one)) === "scheduled");
    const { data } = await client.sendText({ id, number, text: "urgent" });
    expect(data.status).toBe("sent");
    const texts = ["due at night", "queued first", "queued second"];
    expect(await sentTexts(...texts)).toEqual([]);
    await setQuiet(null);
    await story.gateway.advance(HOUR);
    for (const one of [due, ...queued]) expect((await story.outcome(one)).event).toBe("message.sent");
    expect(await sentTexts("urgent", ...texts)).toEqual(["urgent", ...texts]);
  });

  /** How far ahead the message is planned. */
  const planOf = async (messageId: string) => {
    const { data } = await story.sales.client.getMessage({ id: story.sales.id, messageId });
    return data.status === "scheduled" ? Date.parse(data.send_at ?? "") - Date.now() : 0;
  };

  test.each([
    { from: "22:00", to: "22:00", time_zone: "UTC" },
    { from: "22", to: "08:00", time_zone: "UTC" },
    { from: "22:00", to: "08:00", time_zone: "Mars/Olympus" },
    { from: "22:00", to: "08:00" },
  ])("%j is refused", async (quiet_hours) => {
    const { id } = story.sales;
    const change = { settings: { quiet_hours } };
    const { status } = await call(`PATCH /api/v1/instances/${id}`, change);
    expect(status).toBe(400);
  });
});

describe("the gateway refuses, before it queues anything,", () => {
  const text = () => ({ number: story.friend.phone, text: "x" });

  test.each([
    ["a time in the past", "send_at", () => ({ send_at: fromNow(-MINUTE) })],
    ["a time in ten years", "send_at", () => ({ send_at: fromNow(10 * 365 * 24 * HOUR) })],
    ["a time without a zone", "send_at", () => ({ send_at: "2030-01-01T12:00:00" })],
    ["a time in words", "scheduled_at", () => ({ scheduled_at: "tomorrow" })],
    ["a scheduled sync send", "send_at", () => ({ send_at: fromNow(HOUR), async: false })],
    ["a scheduled send of mode sync", "send_at", () => ({ send_at: fromNow(HOUR), mode: "sync" })],
    ["an end before the time", "expires_at", () => ({ send_at: fromNow(HOUR), expires_at: fromNow(MINUTE) })],
    ["an end after weeks", "expires_at", () => ({ send_at: fromNow(HOUR), expires_at: fromNow(400 * HOUR) })],
    ["an end without a time", "expires_at", () => ({ expires_at: fromNow(HOUR) })],
  ])("%s", async (_, field, body) => {
    const before = await story.rows();
    const { status, body: told } = await call("POST /api/v1/instances/:id/send-text", {
      ...text(),
      ...body(),
    });
    expect([status, told.code, told.details.fields[0].field]).toEqual([400, "VALIDATION_ERROR", field]);
    expect(await story.rows()).toEqual(before);
  });

  test("a message that is not scheduled any more", async () => {
    const [sent, cancelled] = [await schedule("sent", HOUR), await schedule("cancelled", 2 * HOUR)];
    await call(`DELETE /api/v1/instances/:id/scheduled/${cancelled}`);
    await story.gateway.advance(HOUR);
    await story.outcome(sent);
    const change = { send_at: fromNow(HOUR) };
    for (const [http, body, code] of [
      [`PATCH /api/v1/instances/:id/scheduled/${sent}`, change, "CONFLICT"],
      [`DELETE /api/v1/instances/:id/scheduled/${sent}`, undefined, "CONFLICT"],
      [`DELETE /api/v1/instances/:id/scheduled/${cancelled}`, undefined, "CONFLICT"],
      ["PATCH /api/v1/instances/:id/scheduled/UNKNOWN", change, "MESSAGE_NOT_FOUND"],
    ] as const)
      expect((await call(http, body)).body.code).toBe(code);
  });
});
