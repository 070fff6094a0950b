import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../test/stories/messaging-story.ts";
import { phoneJid } from "../../network/jid.ts";

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});
afterAll(() => story.stop());

const sales = () => ({ id: story.sales.id });
const set = (settings: Record<string, unknown>) =>
  story.sales.client.updateInstance({ ...sales(), settings });

afterEach(async () => {
  await set({
    reject_calls: false,
    reject_message: null,
    ignore_groups: false,
    read_messages: false,
    mark_online: false,
    send_delay_min_ms: 0,
    send_delay_max_ms: 0,
  });
});

let personCount = 0;
const newNumber = () => `55118${7000 + personCount++}1111`;
const GROUP = "120363000000000001@g.us";

async function messagesIn(chat: string) {
  const { rows } = await sql<{ text: string; direction: string; origin: string; read_at: Date | null }>`
    select content ->> 'text' as text, direction, origin, read_at from message
    where instance_id = ${story.sales.id} and jid = ${chat} order by id`.execute(story.gateway.database.db);
  return rows;
}

describe("an incoming phone call", () => {
  const call = async (from: string) =>
    (await story.sales.client.sandboxCall({ ...sales(), from })) as unknown as { data: { call_id: string } };
  const receiveEvent = (from: string) =>
    story.receiver.waitFor(({ body }) => body.event === "call.received" && body.data.from.phone === from);

  test("is rejected as soon as the setting says so, and the caller gets the text once", async () => {
    const from = newNumber();
    await set({ reject_calls: true, reject_message: "Please write to us." });
    const { data } = await call(from);
    await receiveEvent(from);
    await waitUntil(async () => (await messagesIn(phoneJid(from))).length === 1);
    expect(await messagesIn(phoneJid(from))).toMatchObject([
      { text: "Please write to us.", direction: "outbound", origin: "api" },
    ]);
    expect(await story.ledger({ action: "reject_call", target_id: data.call_id })).toHaveLength(1);
    await repeatCall(data.call_id, from);
    await waitUntil(
      async () => (await story.ledger({ action: "reject_call", target_id: data.call_id })).length > 1,
    );
    await waitUntil(async () => (await story.rows()).jobs === 0);
    expect(await messagesIn(phoneJid(from))).toHaveLength(1);
  });

  /** The network reports one phone call several times. */
  async function repeatCall(call_id: string, phone: string): Promise<void> {
    const { db } = story.gateway.database;
    const ref = {
      do: "reject_call",
      call_id,
      from: { jid: phoneJid(phone), lid: null, phone },
      at: new Date(),
    };
    const { rows } = await sql<{ lane: number }>`
      insert into job (lane, prio, pos, grp, ref)
      select lane, 0, 0, 'act 0', ${JSON.stringify(ref)} from instance where id = ${story.sales.id}
      returning lane`.execute(db);
    story.gateway.gateway.engine.wake(rows.map(({ lane }) => lane));
  }

  test("keeps ringing if the setting does not reject it", async () => {
    const from = newNumber();
    const { data } = await call(from);
    await receiveEvent(from);
    expect(await story.ledger({ action: "reject_call", target_id: data.call_id })).toEqual([]);
    expect(await messagesIn(phoneJid(from))).toEqual([]);
  });
});

describe("group messages", () => {
  test("are neither stored nor reported while the setting ignores them, and can still be sent", async () => {
    const from = newNumber();
    await set({ ignore_groups: true });
    const hidden = await story.sales.client.sandboxReceive({
      ...sales(),
      from,
      group_jid: GROUP,
      text: "Hidden",
    });
    await story.sales.client.sandboxReact({
      ...sales(),
      from,
      group_jid: GROUP,
      message_id: hidden.data.message_id,
      reaction: "👍",
    });
    const direct = await story.sales.client.sandboxReceive({ ...sales(), from, text: "Direct" });
    await story.event("message.received", direct.data.message_id);
    expect(await messagesIn(GROUP)).toEqual([]);
    const about = story.receiver.received.filter(({ raw }) => raw.includes(hidden.data.message_id));
    expect(about).toEqual([]);
    const sent = await story.sales.client.sendText({ ...sales(), jid: GROUP, text: "To all" });
    expect(sent.data.status).toMatch(/sent|delivered|read/);
    await set({ ignore_groups: false });
    const shown = await story.sales.client.sandboxReceive({
      ...sales(),
      from,
      group_jid: GROUP,
      text: "Shown",
    });
    await story.event("message.received", shown.data.message_id);
  });
});

describe("an inbound message", () => {
  test("is marked as read automatically, in batches per chat, once the setting says so", async () => {
    const from = newNumber();
    const before = await story.sales.client.sandboxReceive({ ...sales(), from, text: "Before" });
    await story.event("message.received", before.data.message_id);
    await set({ read_messages: true });
    for (const text of ["One", "Two", "Three"])
      await story.sales.client.sandboxReceive({ ...sales(), from, text });
    const isRead = async () => (await messagesIn(phoneJid(from))).map(({ read_at }) => read_at !== null);
    await waitUntil(async () => (await isRead()).filter(Boolean).length === 3);
    expect(await isRead()).toEqual([false, true, true, true]);
  });
});

describe("the online presence", () => {
  test("follows the setting while the session is connected", async () => {
    const shown = async () =>
      (await story.ledger({ action: "presence", chat: phoneJid(story.sales.phone) })).map(({ kind }) => kind);
    await set({ mark_online: true });
    await waitUntil(async () => (await shown()).length === 1);
    await story.sales.client.updateInstance({ ...sales(), name: "Sales" });
    await set({ mark_online: false });
    await waitUntil(async () => (await shown()).length === 2);
    expect(await shown()).toEqual(["available", "unavailable"]);
  });
});

describe("the delay between sends", () => {
  test("applies to sends of every priority, and shows the typing state meanwhile", async () => {
    await set({ send_delay_min_ms: 3_000, send_delay_max_ms: 3_000 });
    const chats = Array.from({ length: 4 }, () => phoneJid(newNumber()));
    const seen = async () => {
      const all = await Promise.all(["presence", "send"].map((action) => story.ledger({ action })));
      return all.map((entries) => entries.filter(({ chat }) => chats.some((one) => one === chat)));
    };
    const sending = chats.map((jid, n) =>
      story.sales.client.sendText({ ...sales(), jid, text: "Hi", async: n < 3 }),
    );
    await waitUntil(async () => (await seen())[0]?.length);
    await set({ send_delay_min_ms: 0, send_delay_max_ms: 0 });
    await Promise.all(sending);
    await waitUntil(async () => (await seen())[1]?.length === 4);
    const [typing, sent] = await seen();
    expect(typing?.[0]).toMatchObject({ kind: "typing", chat: sent?.[1]?.chat });
  });

  test("does not delay a reaction, and ends when the setting is removed", async () => {
    const number = newNumber();
    const { data } = await story.sales.client.sendText({ ...sales(), number, text: "Hi" });
    await set({ send_delay_min_ms: 3_000_000, send_delay_max_ms: 3_600_000 });
    await story.sales.client.sendText({ ...sales(), number, text: "The first is not held up" });
    const late = await story.sales.client.sendText({ ...sales(), number, text: "Late", async: true });
    const { pendingMessageId } = late as unknown as { pendingMessageId: string };
    await story.sales.client.react({ ...sales(), message_id: data.message_id ?? "", reaction: "👍" });
    expect(await story.ledger({ message_id: pendingMessageId })).toEqual([]);
    await set({ send_delay_min_ms: 0, send_delay_max_ms: 0 });
    await story.outcome(pendingMessageId);
  });

  test("lets sync sends overtake other chats", async () => {
    await set({ send_delay_min_ms: 3_000_000, send_delay_max_ms: 3_000_000 });
    const queue = async (number: string) => {
      const response = await story.sales.client.sendText({ ...sales(), number, text: "Hi", async: true });
      return (response as unknown as { pendingMessageId: string }).pendingMessageId;
    };
    await story.outcome(await queue(newNumber()));
    const others: string[] = [];
    for (let n = 0; n < 20; n++) others.push(await queue(newNumber()));
    const number = newNumber();
    const earlier = await queue(number);
    const sync = story.sales.client.sendText({ ...sales(), number, text: "Now" });
    await waitUntil(async () => (await messagesIn(phoneJid(number))).length === 2);
    await set({ send_delay_min_ms: 40, send_delay_max_ms: 40 });
    const { data } = await sync;
    await story.outcome(others.at(-1) ?? "");
    const { rows } = await sql<{ message_id: string }>`
      select message_id from sandbox.ledger where action = 'send' order by id`.execute(
      story.gateway.database.db,
    );
    const placeOf = (id: string) => rows.findIndex((row) => row.message_id === id);
    const last = placeOf(others.at(-1) ?? "");
    expect(placeOf(earlier)).toBeLessThan(placeOf(data.message_id ?? ""));
    expect(placeOf(earlier)).toBeLessThan(placeOf(others[3] ?? ""));
    // Its chat waits for the previous acknowledgement; other chats need not wait.
    expect(placeOf(data.message_id ?? "")).toBeLessThan(last);
  });
});
