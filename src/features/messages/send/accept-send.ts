import { setTimeout as delay } from "node:timers/promises";
import type { Engine } from "../../../engine/engine.ts";
import { newMessageId, phoneOfJid } from "../../../network/jid.ts";
import { type Db, isDatabaseUnavailable } from "../../../platform/db/database.ts";
import { isBackendGone, isCommitOutcomeUnknown } from "../../../platform/db/unknown-commit-outcome.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { ulid } from "../../../platform/ulid.ts";
import type { ConversationRef, Conversations, NumberResolver, Recipient } from "../../contacts/contacts.ts";
import type { StoredContent } from "../log/message-view.ts";
import type { InsertedMessage, MessageInserter, NewMessage } from "./insert-messages.ts";
import { deleteOutgoing } from "./outgoing-file.ts";
import type { IdempotencyKey } from "./prepare/idempotency-key.ts";
import type { SendingInstance } from "./sending-instance.ts";

/** A checked and parsed send, as `prepareSend` returns it. */
export interface SendRequest {
  instance: SendingInstance;
  recipient: Recipient;
  content: StoredContent;
  mode: "sync" | "async";
  origin: NewMessage["origin"];
  client_message_id: string | null;
  track_id: string | null;
  metadata: Record<string, unknown> | null;
  delay_ms: number;
  idempotency: IdempotencyKey | null;
}

export interface AcceptSendOptions {
  db: Db;
  engine: Engine;
  inserter: MessageInserter;
  conversations: Conversations;
  numbers: NumberResolver;
  sendHoldMs: number;
  ackTimeoutMs: number;
}

export type AcceptedSend = Pick<NewMessage, "message_id" | "job_id"> & { id: number };

/** Accepts a send as a row and a job in one commit; undefined if an earlier request has used its key. */
export async function acceptSend(
  options: AcceptSendOptions,
  request: SendRequest,
): Promise<AcceptedSend | undefined> {
  const accepted = await commit(options, request).catch(async (error: unknown) => {
    // A send that may have been accepted still needs its file.
    if (!isAcceptUnknown(error)) await dropFileOf(options.db, request.content);
    throw error;
  });
  if (!accepted) {
    await dropFileOf(options.db, request.content);
    return undefined;
  }
  faultPoint("accept:after-commit");
  const { job, ...send } = accepted;
  if (job) options.engine.dispatch([job]);
  else options.engine.wake([request.instance.lane]);
  return send;
}

async function commit(
  options: AcceptSendOptions,
  request: SendRequest,
): Promise<(AcceptedSend & InsertedMessage) | undefined> {
  const message = toMessage(options, request, await conversationOf(options, request));
  const inserted = await accept(options, message);
  return inserted && { ...inserted, message_id: message.message_id, job_id: message.job_id };
}

/** Whether the send may have been accepted despite the error, so that it must not be reported as failed. */
export function isAcceptUnknown(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "SEND_TIMEOUT";
}

async function dropFileOf(db: Db, content: StoredContent): Promise<void> {
  if (content.kind === "media" && content.upload) await deleteOutgoing(db, [content.upload]).catch(() => {});
}

/** The network's address, as far as it is known. */
async function conversationOf(
  { conversations, numbers }: AcceptSendOptions,
  { instance, recipient }: SendRequest,
): Promise<ConversationRef> {
  const { lid, type } = recipient;
  const { id: instance_id, account_id } = instance;
  const jid = await numbers.resolve(instance, recipient.jid);
  return conversations.getOrCreate({
    account_id,
    instance_id,
    jid,
    phone: phoneOfJid(jid),
    lid,
    type,
    push_name: null,
  });
}

function toMessage(
  { engine, sendHoldMs, ackTimeoutMs }: AcceptSendOptions,
  { instance, recipient: _, delay_ms, ...request }: SendRequest,
  conversation: ConversationRef,
): NewMessage {
  const { content, mode } = request;
  return {
    ...request,
    account_id: instance.account_id,
    instance_id: instance.id,
    max_messages: instance.max_messages,
    lane: instance.lane,
    conversation_id: conversation.id,
    message_id: newMessageId(),
    job_id: `job_${ulid()}`,
    jid: conversation.jid,
    type: content.kind === "media" ? content.media_type : content.kind,
    delay_ms: delay_ms || null,
    ...(mode === "sync" && { awaited_by: engine.node.id }),
    hold_ms: (mode === "async" ? sendHoldMs : ackTimeoutMs) + delay_ms,
  };
}

async function accept(options: AcceptSendOptions, message: NewMessage): Promise<InsertedMessage | undefined> {
  try {
    return await options.inserter.write(message);
  } catch (error) {
    if (!isDatabaseUnavailable(error) || !isCommitOutcomeUnknown(error)) throw error;
    return lookUp(options, message, error);
  }
}

const POLL_MS = { first: 250, longest: 1000 };

/**
 * Checks, after the connection broke at the commit, whether the message exists under its chosen id. A missing
 * message counts only when the commit can no longer arrive: a slow disk or standby can delay it.
 */
async function lookUp(
  { db, ackTimeoutMs }: AcceptSendOptions,
  message: NewMessage,
  cause: unknown,
): Promise<InsertedMessage> {
  const giveUpAt = performance.now() + ackTimeoutMs;
  for (let ms = POLL_MS.first; performance.now() < giveUpAt; ms = Math.min(2 * ms, POLL_MS.longest)) {
    // Checked first, so that the query below sees a commit that the backend makes before it ends.
    const isLast = await isBackendGone(db, cause).catch(() => false);
    const found = await findMessage(db, message).catch(() => undefined);
    if (found) return { id: found.id, job: undefined };
    if (found === null && isLast) throw cause;
    await delay(ms);
  }
  throw new GatewayError(
    "SEND_TIMEOUT",
    "The database did not confirm whether the message was accepted. Look for details.message_id in the log before you send it again.",
    {
      cause,
      details: { message_id: message.message_id, sent: "unknown" },
    },
  );
}

async function findMessage(db: Db, { instance_id, message_id }: NewMessage): Promise<{ id: number } | null> {
  const found = await db
    .selectFrom("message")
    .select("id")
    .where("instance_id", "=", instance_id)
    .where("message_id", "=", message_id)
    .executeTakeFirst();
  return found ?? null;
}
