import type { Conversations } from "../../core/contacts/contacts.ts";
import { noInstance } from "../../core/instances/instances.ts";
import { insertMessages, type NewMessage, type StoredContent } from "../../core/messages/messages.ts";
import type { Jid } from "../../network/driver.ts";
import { newMessageId } from "../../network/jid.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { ulid } from "../../platform/ulid.ts";
import type { Integration } from "./integration-row.ts";

/** The chat that receives replies, as the original message identifies it. */
export interface ReplyChat {
  jid: string;
  phone: string | null;
  lid: string | null;
  type: "contact" | "group";
}

export interface OutgoingReply {
  content: StoredContent;
  /** How long typing is shown before the reply. */
  delay_ms?: number;
  /** The reply waits until then, and no typing is shown. */
  run_at?: Date;
  /** Chosen in advance if it must be known before; else a new one. */
  message_id?: NewMessage["message_id"];
}

/** The destination of replies: found before the transaction that queues them. */
export interface ReplyTarget {
  account_id: number;
  instance_id: number;
  lane: number;
  max_messages: number | null;
  conversation_id: number;
  jid: Jid;
}

/** Throws NOT_FOUND for a deleted instance. */
export async function findReplyTarget(
  { db, conversations }: { db: Db; conversations: Conversations },
  { account_id, instance_id }: Pick<Integration, "account_id" | "instance_id">,
  chat: ReplyChat,
): Promise<ReplyTarget> {
  const instance = await db
    .selectFrom("instance as i")
    .innerJoin("account as a", "a.id", "i.account_id")
    .innerJoin("plan as p", "p.id", "a.plan_id")
    .select(["i.lane", "p.max_messages"])
    .where("i.id", "=", instance_id)
    .where("i.removed_at", "is", null)
    .executeTakeFirstOrThrow(noInstance);
  const { id, jid } = await conversations.getOrCreate({ account_id, instance_id, push_name: null, ...chat });
  return { ...instance, account_id, instance_id, conversation_id: id, jid: jid as Jid };
}

/** The queued messages, by row number and network id. */
export interface QueuedReply {
  id: number;
  message_id: string;
}

export interface QueueRepliesOptions {
  origin: "chatbot" | "inbox";
  /** Identifies the original event: the same key and position is never sent again. */
  key: string;
  sendHoldMs: number;
}

/**
 * Queues replies in the given order, as part of the transaction that ends their job. Returns undefined for a
 * reply that was queued before. Throws MESSAGE_QUOTA_EXCEEDED, and queues nothing, if the account's month is
 * used up.
 */
export async function queueReplies(
  trx: Trx,
  route: ReplyTarget,
  replies: readonly OutgoingReply[],
  options: QueueRepliesOptions,
): Promise<(QueuedReply | undefined)[]> {
  if (replies.length === 0) return [];
  const messages = replies.map((reply, index) => toMessage(route, reply, index, options));
  const inserted = await insertMessages(trx, messages);
  return messages.map(({ message_id }, index) => {
    const row = inserted[index];
    if (row && "limit" in row)
      throw new GatewayError(
        "MESSAGE_QUOTA_EXCEEDED",
        "The messages that the account's plan allows this month are used up.",
      );
    return row && { id: row.id, message_id };
  });
}

function toMessage(
  { conversation_id, ...route }: ReplyTarget,
  { content, delay_ms = 0, run_at, message_id }: OutgoingReply,
  index: number,
  { origin, key, sendHoldMs }: QueueRepliesOptions,
): NewMessage {
  return {
    ...route,
    conversation_id,
    content,
    origin,
    ...(run_at && { run_at }),
    message_id: message_id ?? newMessageId(),
    job_id: `job_${ulid()}`,
    mode: "async",
    type: content.kind === "media" ? content.media_type : content.kind,
    client_message_id: null,
    track_id: null,
    metadata: null,
    delay_ms: delay_ms || null,
    hold_ms: sendHoldMs + delay_ms + Math.max(0, (run_at?.getTime() ?? 0) - Date.now()),
    idempotency: { route: "integration", key: `${key}:${index}`, fingerprint: "" },
  };
}
