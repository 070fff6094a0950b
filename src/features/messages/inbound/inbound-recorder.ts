import { createBatchWriter } from "../../../engine/batch-queue.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { NetworkMessage } from "../../../network/driver.ts";
import { phoneOfJid } from "../../../network/jid.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { cleanJson } from "../../../platform/text/clean-text.ts";
import type { Conversations } from "../../contacts/contacts.ts";
import { recordEvents } from "../../events/events.ts";
import { queueInboundFiles } from "../../media/media.ts";
import { type MessageRow, readForEvents } from "../log/message-view.ts";
import { receivedEvent, sentEvent } from "../message-events.ts";
import { type InboundMessage, type InboundRow, insertInboundMessages } from "./insert-inbound-messages.ts";

export interface InboundRecorder {
  /** Resolves once the message and its event are stored; only then may the gateway acknowledge it. */
  record(instance: { id: number; account_id: number }, message: NetworkMessage): Promise<void>;
}

/** Handles new messages in the transaction that stores them. */
export type InboundFollower = (trx: Trx, rows: readonly InboundRow[]) => Promise<void>;

export function createInboundRecorder(
  db: Db,
  engine: Engine,
  conversations: Conversations,
  follow: InboundFollower,
): InboundRecorder {
  const writer = createBatchWriter<InboundMessage, void>({
    async write(messages) {
      engine.wake(await db.transaction().execute((trx) => recordMessages(trx, messages, follow)));
      return messages.map(() => undefined);
    },
  });

  return {
    async record(instance, received) {
      const message = cleanJson(received);
      const chat = await conversations.getOrCreate({
        account_id: instance.account_id,
        instance_id: instance.id,
        jid: message.chat,
        type: message.chat_type,
        ...chatIdentity(message),
      });
      const sender = await conversations.identify(instance.id, message.sender);
      await writer.write({
        account_id: instance.account_id,
        instance_id: instance.id,
        conversation_id: chat.id,
        message: { ...message, sender, chat: chat.jid },
      });
    },
  };
}

/** In a direct chat the sender is the chat, unless the instance sent the message. */
function chatIdentity(message: NetworkMessage) {
  if (message.chat_type === "group" || message.from_me) {
    return { phone: phoneOfJid(message.chat), lid: null, push_name: null };
  }
  const { phone, lid, push_name } = message.sender;
  return { phone, lid, push_name };
}

/** Followers and webhooks get the messages, except those from before the pairing and undecrypted ones. */
async function recordMessages(trx: Trx, all: InboundMessage[], follow: InboundFollower): Promise<number[]> {
  const messages = unique(all);
  const stored = await insertInboundMessages(trx, [...messages.values()]);
  const isReported = (row: MessageRow) => {
    const { history, unreadable } = messages.get(keyOf(row))?.message ?? {};
    return !history && !unreadable;
  };
  const reported = stored.filter(isReported);
  if (reported.length === 0) return [];
  const lanes = await queueInboundFiles(trx, reported);
  await follow(trx, reported);
  const rows = lanes.length > 0 ? await readForEvents(trx, reported) : reported;
  const events = rows.map((row) => {
    const { offline = false } = messages.get(keyOf(row))?.message ?? {};
    return row.from_me ? sentEvent(row) : receivedEvent(row, { offline });
  });
  return [...lanes, ...(await recordEvents(trx, events, { isLast: true }))];
}

/** One statement cannot change a row twice: of two messages with one id, the readable one counts. */
function unique(messages: InboundMessage[]): Map<string, InboundMessage> {
  const byKey = new Map<string, InboundMessage>();
  for (const one of messages) {
    const { message, instance_id } = one;
    const key = keyOf({ instance_id, message_id: message.id, jid: message.chat });
    const before = byKey.get(key);
    if (!before || (before.message.unreadable && !message.unreadable)) byKey.set(key, one);
  }
  return byKey;
}

/** Several instances in a group receive a message under the same id. */
function keyOf({
  instance_id,
  message_id,
  jid,
}: Pick<MessageRow, "instance_id" | "message_id" | "jid">): string {
  return `${instance_id} ${message_id} ${jid}`;
}
