import type { NewMessage } from "../../src/core/messages/send/insert-messages.ts";
import { newMessageId, phoneJid } from "../../src/network/jid.ts";

/** A text as the API queues it, for a lane without an owner. */
export function newMessage(
  over: Pick<NewMessage, "account_id" | "instance_id"> & Partial<NewMessage>,
): NewMessage {
  return {
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
