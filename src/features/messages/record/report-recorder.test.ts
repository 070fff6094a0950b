import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestInstance } from "../../../../test/gateway.ts";
import { type MessagingStory, startMessagingStory } from "../../../../test/messaging-story.ts";
import type { Jid, MessageId, MessageStatus } from "../../../network/driver.ts";
import { newMessageId } from "../../../network/jid.ts";
import type { SendOutcome } from "../send/record-outcome.ts";
import { createReportRecorder, type ReportRecorder } from "./report-recorder.ts";

let story: MessagingStory;
let reports: ReportRecorder;

beforeAll(async () => {
  story = await startMessagingStory();
  const { database, gateway } = story.gateway;
  reports = createReportRecorder(database.db, gateway.engine, async () => {});
});

afterAll(() => story.stop());

interface SubmittedSend {
  id: number;
  instance_id: number;
  message_id: MessageId;
  jid: Jid;
}

/** A send that the network has got and not acknowledged. */
async function submit({ id, client }: TestInstance): Promise<SubmittedSend> {
  const { data } = await client.sendText({ id, number: story.friend.phone, text: "Hi" });
  const { rows } = await sql<SubmittedSend>`
    insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, mode, jid,
      type, content, status, submitted_at)
    select account_id, instance_id, conversation_id, ${newMessageId()}, direction, from_me, origin, 'async', jid,
      type, content, 'pending', now()
    from message where id = ${data.id ?? 0} returning id, instance_id, message_id, jid`.execute(
    story.gateway.database.db,
  );
  const [send] = rows;
  if (!send) throw new Error("the send is not in the log");
  return send;
}

const acknowledge = ({ id, instance_id }: SubmittedSend, more: Partial<SendOutcome> = {}) =>
  reports.outcomes.record({
    id,
    instance_id,
    status: "sent",
    at: new Date(),
    error: null,
    job: null,
    ...more,
  });

const receive = ({ instance_id, message_id, jid }: SubmittedSend, status: MessageStatus) =>
  reports.receipts.record({
    instance_id,
    chat: jid,
    ids: [message_id],
    from_me: true,
    status,
    at: new Date(),
  });

/** The events about these sends by name and number of the send, with the transactions that wrote them. */
async function eventsOf(...sends: SubmittedSend[]): Promise<{ event: string; commit: string }[]> {
  const ids = sends.map(({ message_id }) => message_id as string);
  const { rows } = await sql<{ event: string; message_id: string; commit: string }>`
    select event, xmin::text as commit, convert_from(body, 'UTF8')::jsonb #>> '{data,message,message_id}' as message_id
    from event where convert_from(body, 'UTF8')::jsonb #>> '{data,message,message_id}' = any(${ids}) order by sequence`.execute(
    story.gateway.database.db,
  );
  return rows.map(({ event, commit, message_id }) => ({
    event: `${event} ${ids.indexOf(message_id)}`,
    commit,
  }));
}

const statusOf = async ({ id }: SubmittedSend) =>
  (
    await story.gateway.database.db
      .selectFrom("message")
      .select("status")
      .where("id", "=", id)
      .executeTakeFirst()
  )?.status;

test("an acknowledgement and the receipt of the same message are one commit", async () => {
  const send = await submit(story.sales);
  await Promise.all([acknowledge(send), receive(send, "delivered")]);
  const events = await eventsOf(send);
  expect(events.map(({ event }) => event)).toEqual(["message.sent 0", "message.delivered 0"]);
  expect(new Set(events.map(({ commit }) => commit)).size).toBe(1);
  expect(await statusOf(send)).toBe("delivered");
});

test("a receipt that arrives together with and before the acknowledgement is reported after it", async () => {
  const send = await submit(story.sales);
  await Promise.all([receive(send, "read"), acknowledge(send)]);
  const events = await eventsOf(send);
  expect(events.map(({ event }) => event)).toEqual(["message.sent 0", "message.read 0"]);
  expect(await statusOf(send)).toBe("read");
});

test("events have the order in which the network reported outcomes and receipts", async () => {
  const [first, second, third] = [
    await submit(story.sales),
    await submit(story.sales),
    await submit(story.sales),
  ];
  await Promise.all([acknowledge(first), acknowledge(second)]);
  await Promise.all([receive(first, "delivered"), acknowledge(third), receive(second, "delivered")]);
  const events = await eventsOf(first, second, third);
  expect(events.map(({ event }) => event)).toEqual([
    "message.sent 0",
    "message.sent 1",
    "message.delivered 0",
    "message.sent 2",
    "message.delivered 1",
  ]);
});

test("a report that the database rejects fails alone in a batch of outcomes and receipts", async () => {
  const [bad, good, read] = [await submit(story.sales), await submit(story.sales), await submit(story.sales)];
  const results = await Promise.allSettled([
    acknowledge(bad, { status: "lost" as "sent" }),
    acknowledge(good),
    receive(read, "read"),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect([await statusOf(bad), await statusOf(good), await statusOf(read)]).toEqual([
    "pending",
    "sent",
    "read",
  ]);
});

test("a locked message delays only its own instance, whose last batch has failed", async () => {
  const locked = await submit(story.sales);
  const free = await submit(story.friend);
  await expect(acknowledge(locked, { status: "lost" as "sent" })).rejects.toThrow();
  let late = Promise.resolve();
  await story.gateway.database.db.transaction().execute(async (trx) => {
    await sql`select from message where id = ${locked.id} for update`.execute(trx);
    late = acknowledge(locked);
    await receive(free, "delivered");
  });
  await late;
  expect([await statusOf(free), await statusOf(locked)]).toEqual(["delivered", "sent"]);
});
