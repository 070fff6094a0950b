import { expect, test } from "vitest";
import type { Jid, MessageId, NetworkMessage } from "../../driver.ts";
import { phoneJid } from "../../jid.ts";
import { EarlyChanges } from "./early-changes.ts";

const CHAT = "120363041234567891@g.us" as Jid;

function personOf(phone: string) {
  return { jid: phoneJid(phone), lid: null, phone, push_name: null };
}

function messageOf(id: string, phone: string): NetworkMessage {
  const content = { kind: "text", text: "First" } as const;
  const about = { id: id as MessageId, chat: CHAT, chat_type: "group", from_me: false } as const;
  return { ...about, sender: personOf(phone), content, at: new Date() };
}

test("a flood of early edits displaces no other person's, and the stored data stay small", async () => {
  let stored = "";
  const set = async (data: unknown) => {
    stored = JSON.stringify(data);
  };
  const early = new EarlyChanges({ get: async () => ({}), set } as never);
  const hold = (id: string, phone: string, text: string) => {
    const about = { chat: CHAT, id: id as MessageId, from_me: false, by: personOf(phone), at: new Date() };
    return early.hold({ type: "message_edited", ...about, text });
  };
  await hold("ANA", "5511999990001", "Latest");
  await hold("LARGE", "5511999990002", "x".repeat(64_000));
  for (let i = 0; i < 500; i++) await hold(`FLOOD${i}`, "5511999990002", "x".repeat(500));
  await hold("HUGE", "5511999990002", "x".repeat(1_000_000));
  expect(stored.length).toBeLessThan(65_536);
  expect(stored.match(/FLOOD/g)).toHaveLength(16);
  // A message is read again if its commit fails.
  for (const _ of ["first", "second"]) {
    const applied = await early.applyTo(messageOf("ANA", "5511999990001"), async () => false);
    expect(applied).toMatchObject({ content: { text: "Latest" }, edited_at: expect.any(Date) });
  }
});
