import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestInstance } from "../../../../test/gateway.ts";
import { createSecondRecorder, type TestChange } from "../../../../test/stories/engine/second-recorder.ts";
import { type MessagingStory, startMessagingStory } from "../../../../test/stories/messaging-story.ts";
import type { Jid, MessageId, MessageStatus, NetworkMessage } from "../../../network/driver.ts";
import { newMessageId } from "../../../network/jid.ts";
import type { SendOutcome } from "../send/record-outcome.ts";
import { SEND_ERROR } from "../send/send-error.ts";
import type { ReportRecorder } from "./report-recorder.ts";

let story: MessagingStory;
let reports: ReportRecorder<TestChange>;

beforeAll(async () => {
  story = await startMessagingStory();
  reports = createSecondRecorder(story.gateway);
});

afterAll(() => story.stop());

interface SubmittedSend {
  id: number;
  account_id: number;
  instance_id: number;
  conversation_id: number;
  message_id: MessageId;
  jid: Jid;
}

/** A send that the network received and did not acknowledge. */
async function submit({ id, client }: TestInstance): Promise<SubmittedSend> {
  const { data } = await client.sendText({ id, number: story.friend.phone, text: "Hi" });
  const { rows } = await sql<SubmittedSend>`
    insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, mode, jid,
      type, content, status, submitted_at)
    select account_id, instance_id, conversation_id, ${newMessageId()}, direction, from_me, origin, 'async', jid,
      type, content, 'pending', now()
    from message where id = ${data.id ?? 0}
    returning id, account_id, instance_id, conversation_id, message_id, jid`.execute(
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

/** The person to whom the message was sent writes a message; resolves once it is stored. */
function reply(
  { account_id, instance_id, conversation_id, jid }: SubmittedSend,
  message: Partial<NetworkMessage> & { id: MessageId },
  change?: TestChange,
) {
  const written: NetworkMessage = {
    chat: jid,
    chat_type: "contact",
    from_me: false,
    sender: { jid, lid: null, phone: null, push_name: null },
    content: { kind: "text", text: "Hello" },
    at: new Date(),
    ...message,
  };
  return reports.inbound.write({
    instance_id,
    messages: [{ account_id, instance_id, conversation_id, message: written }],
    change,
  });
}

/** The events about these messages by name and number of the message, with the transactions that wrote them. */
async function eventsOf(
  ...messages: Pick<SubmittedSend, "message_id">[]
): Promise<{ event: string; commit: string }[]> {
  const ids = messages.map(({ message_id }) => message_id as string);
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

test("an outcome is recorded once, and a later one changes nothing", async () => {
  const send = await submit(story.sales);
  await acknowledge(send);
  await acknowledge(send, { status: "failed", error: SEND_ERROR.unknownOutcome });
  expect(await statusOf(send)).toBe("sent");
  expect(await eventsOf(send)).toMatchObject([{ event: "message.sent 0" }]);
});

test("an acknowledgement recorded together with a failure of the same send is its outcome", async () => {
  const send = await submit(story.sales);
  const failure = { status: "failed", error: SEND_ERROR.unknownOutcome } as const;
  // The first one is written alone; the others wait for it and are written in one batch.
  await Promise.all([
    acknowledge({ ...send, id: 0 }, failure),
    acknowledge(send, failure),
    acknowledge(send),
  ]);
  expect(await eventsOf(send)).toMatchObject([{ event: "message.sent 0" }]);
});

test("an expired hold time fails a send only if it has not started meanwhile", async () => {
  const send = await submit(story.sales);
  const expired = {
    status: "failed",
    error: SEND_ERROR.neverConnected,
    only_if_not_submitted: true,
  } as const;
  await acknowledge(send, expired);
  expect(await statusOf(send)).toBe("pending");
  await sql`update message set submitted_at = null where id = ${send.id}`.execute(story.gateway.database.db);
  await acknowledge(send, expired);
  expect(await statusOf(send)).toBe("failed");
});

test("the status of a message only advances", async () => {
  const send = await submit(story.sales);
  await acknowledge(send);
  for (const status of ["played", "read", "delivered", "sent"] as const) await receive(send, status);
  expect(await statusOf(send)).toBe("played");
  const events = await eventsOf(send);
  expect(events.map(({ event }) => event)).toEqual(["message.sent 0", "message.read 0"]);
});

test("a receipt that arrives together with and before the acknowledgement is reported after it", async () => {
  const send = await submit(story.sales);
  await Promise.all([receive(send, "read"), acknowledge(send)]);
  const events = await eventsOf(send);
  expect(events.map(({ event }) => event)).toEqual(["message.sent 0", "message.read 0"]);
  expect(await statusOf(send)).toBe("read");
});

test("events have the order in which the network reported outcomes, receipts and messages, in one commit", async () => {
  const [first, second, third] = [
    await submit(story.sales),
    await submit(story.sales),
    await submit(story.sales),
  ];
  const [question, thanks] = [{ message_id: newMessageId() }, { message_id: newMessageId() }];
  await Promise.all([acknowledge(first), acknowledge(second)]);
  await Promise.all([
    reply(first, { id: question.message_id }),
    receive(first, "delivered"),
    acknowledge(third),
    reply(first, { id: thanks.message_id }),
    receive(second, "delivered"),
  ]);
  const events = await eventsOf(first, second, third, question, thanks);
  expect(events.map(({ event }) => event)).toEqual([
    "message.sent 0",
    "message.sent 1",
    "message.received 3",
    "message.delivered 0",
    "message.sent 2",
    "message.received 4",
    "message.delivered 1",
  ]);
  expect(new Set(events.slice(2).map(({ commit }) => commit)).size).toBe(1);
});

test("the readable one of two messages with one id is reported at its own place", async () => {
  const send = await submit(story.sales);
  const undecrypted = { kind: "unsupported", name: "encrypted", reason: "undecryptable" } as const;
  const [twice, between] = [{ message_id: newMessageId() }, { message_id: newMessageId() }];
  await Promise.all([
    reply(send, { id: twice.message_id, content: undecrypted }),
    reply(send, { id: between.message_id }),
    reply(send, { id: twice.message_id }),
  ]);
  const events = await eventsOf(twice, between);
  expect(events.map(({ event }) => event)).toEqual(["message.received 1", "message.received 0"]);
});

test("a report that the database rejects fails alone in a batch of outcomes, receipts and messages", async () => {
  const [bad, good, read] = [await submit(story.sales), await submit(story.sales), await submit(story.sales)];
  const [lost, received] = [newMessageId(), newMessageId()];
  const results = await Promise.allSettled([
    acknowledge(bad, { status: "lost" as "sent" }),
    reply(bad, { id: lost, content: { kind: "text", text: "\0" } }),
    acknowledge(good),
    reply(good, { id: received }),
    receive(read, "read"),
  ]);
  expect(results.map(({ status }) => status)).toEqual([
    "rejected",
    "rejected",
    "fulfilled",
    "fulfilled",
    "fulfilled",
  ]);
  expect([await statusOf(bad), await statusOf(good), await statusOf(read)]).toEqual([
    "pending",
    "sent",
    "read",
  ]);
  expect(await eventsOf({ message_id: lost }, { message_id: received })).toMatchObject([
    { event: "message.received 1" },
  ]);
});

test("messages are stored only with the change of their session, which learns whether it was stored", async () => {
  const send = await submit(story.sales);
  const ids = [newMessageId(), newMessageId(), newMessageId()] as const;
  const [kept, , lost] = await Promise.all([
    reply(send, { id: ids[0] }, { isLost: false }),
    acknowledge(send),
    reply(send, { id: ids[1] }, { isLost: true }),
    reply(send, { id: ids[2] }),
  ]);
  expect([kept, lost]).toEqual([true, false]);
  const events = await eventsOf(...ids.map((message_id) => ({ message_id })));
  expect(events.map(({ event }) => event)).toEqual(["message.received 0", "message.received 2"]);
});

test("an acknowledgement waits for a part of a history sync only", async () => {
  const [send, older] = [await submit(story.sales), await submit(story.sales)];
  const ids = Array.from({ length: 45 }, newMessageId);
  const stored: string[] = [];
  const wait = async (name: string, recording: Promise<unknown>) => {
    await recording;
    stored.push(name);
  };
  await Promise.all([
    ...ids.map((id) => wait("history", reply(older, { id, history: true }))),
    wait("acknowledgement", acknowledge(send)),
  ]);
  expect(stored.indexOf("acknowledgement")).toBe(20);
  expect(stored).toHaveLength(46);
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
