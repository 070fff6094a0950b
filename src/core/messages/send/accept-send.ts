import type { Engine } from "../../../engine/engine.ts";
import { newMessageId, phoneOfJid } from "../../../network/jid.ts";
import type { Db } from "../../../platform/db/database.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import { inSpan, type NewSpan, traceParentOf } from "../../../platform/tracing/tracing.ts";
import { ulid } from "../../../platform/ulid.ts";
import type { ConversationRef, Conversations, NumberResolver, Recipient } from "../../contacts/contacts.ts";
import type { LoggedContent, StoredContent } from "../log/message-view.ts";
import { acceptInPlace } from "./accept-in-place.ts";
import { findLateMessage, isInsertUnknown, requireLateMessage } from "./find-late-message.ts";
import {
  type InsertedMessage,
  insertAlbum,
  type MessageInserter,
  type NewMessage,
} from "./insert-messages.ts";
import { deleteOutgoing } from "./outgoing-file.ts";
import type { IdempotencyKey } from "./prepare/idempotency-key.ts";
import type { Schedule } from "./prepare/read-schedule.ts";
import type { SendRunner } from "./run-send.ts";
import type { SendingInstance } from "./sending-instance.ts";

/** A checked and parsed send, as `prepareSend` returns it. */
export interface SendRequest {
  instance: SendingInstance;
  /** Set if `instance` was remembered: reads it, and checks that it can accept the send. */
  readInstance?: () => Promise<SendingInstance>;
  recipient: Recipient;
  content: StoredContent;
  /** The other items of an album, of which `content` is the first. */
  others?: StoredContent[];
  mode: "sync" | "async";
  origin: NewMessage["origin"];
  client_message_id: string | null;
  track_id: string | null;
  metadata: Record<string, unknown> | null;
  delay_ms: number;
  /** Schedules an async send. */
  schedule?: Schedule | undefined;
  idempotency: IdempotencyKey | null;
  /** The span that the send belongs to. */
  trace?: TraceParent | undefined;
}

export interface AcceptSendOptions {
  db: Db;
  engine: Engine;
  inserter: MessageInserter;
  /** Without it, every send waits for its job. */
  reserveSend?: SendRunner["reserve"];
  conversations: Conversations;
  numbers: NumberResolver;
  sendHoldMs: number;
  ackTimeoutMs: number;
}

export type AcceptedSend = Pick<NewMessage, "message_id" | "job_id"> & {
  id: number;
  /** The other items of an album. */
  others?: AcceptedItem[];
};

export type AcceptedItem = Pick<NewMessage, "message_id"> & { id: number; content: LoggedContent };

/**
 * Accepts a send as a row and a job in one commit, and begins it in the same commit if it need not wait.
 * Undefined if an earlier request has used its key.
 */
export function acceptSend(
  options: AcceptSendOptions,
  request: SendRequest,
): Promise<AcceptedSend | undefined> {
  return inSpan(
    "accept send",
    () => spanOf(request),
    async (span) => {
      const accepted = await acceptOrDrop(
        options,
        span ? { ...request, trace: traceParentOf(span) } : request,
      );
      if (accepted) span?.setAttribute("messaging.message.id", accepted.message_id);
      return accepted;
    },
  );
}

function spanOf({ trace: parent, instance, mode, origin }: SendRequest): NewSpan {
  const attributes = {
    "waygate.instance.id": instance.id,
    "waygate.send.mode": mode,
    "waygate.send.origin": origin,
  };
  return { parent, attributes };
}

async function acceptOrDrop(
  options: AcceptSendOptions,
  request: SendRequest,
): Promise<AcceptedSend | undefined> {
  const accepted = await commit(options, request).catch(async (error: unknown) => {
    // A send that may have been accepted still needs its file.
    if (!isAcceptUnknown(error)) await dropFilesOf(options.db, request);
    throw error;
  });
  if (!accepted) await dropFilesOf(options.db, request);
  return accepted;
}

async function commit(options: AcceptSendOptions, request: SendRequest): Promise<AcceptedSend | undefined> {
  const conversation = await conversationOf(options, request);
  const begun = await beginAtOnce(options, request, conversation);
  if (begun) return begun;
  const instance = (await request.readInstance?.()) ?? request.instance;
  const { others = [] } = request;
  if (others.length > 0) return acceptAlbum(options, { ...request, instance, others }, conversation);
  const message = toMessage(options, { ...request, instance }, conversation);
  const inserted = await accept(options, message);
  if (!inserted) return undefined;
  faultPoint("accept:after-commit");
  if (inserted.job) options.engine.dispatch([inserted.job]);
  else options.engine.wake([message.lane]);
  return toAccepted(message, inserted);
}

/** Accepts all items in one commit; the lane then sends them in their order. */
async function acceptAlbum(
  options: AcceptSendOptions,
  { others: items, ...request }: SendRequest & { others: StoredContent[] },
  conversation: ConversationRef,
): Promise<AcceptedSend | undefined> {
  const { db, engine, ackTimeoutMs } = options;
  const rest = { ...request, idempotency: null, client_message_id: null, delay_ms: 0 };
  const others = items.map((content) => toMessage(options, { ...rest, content }, conversation));
  const message = toMessage(options, request, conversation);
  const { content } = message;
  if (content.kind === "media" && content.album)
    content.album.others = others.map(({ message_id }) => message_id);
  const ids = await insertAlbum(db, message, others).catch(async (error: unknown) => {
    if (!isInsertUnknown(error)) throw error;
    const giveUpAt = performance.now() + ackTimeoutMs;
    const found = await findLateMessage(db, message, error, () => performance.now() < giveUpAt);
    requireLateMessage(found, message, error);
    return findIds(db, [message, ...others]);
  });
  if (!ids) return undefined;
  faultPoint("accept:after-commit");
  engine.wake([message.lane]);
  const [id = 0, ...otherIds] = ids.map((one) => one.id);
  return {
    ...toAccepted(message, { id }),
    others: others.map(({ message_id, content }, at) => ({ message_id, content, id: otherIds[at] ?? 0 })),
  };
}

/** The row numbers of messages that were accepted together, in their order. */
async function findIds(db: Db, messages: readonly NewMessage[]): Promise<{ id: number }[]> {
  const [{ instance_id = 0 } = {}] = messages;
  return db
    .selectFrom("message")
    .select("id")
    .where("instance_id", "=", instance_id)
    .where(
      "message_id",
      "in",
      messages.map(({ message_id }) => message_id),
    )
    .orderBy("id")
    .execute();
}

/** Undefined: nothing is accepted, since the send must wait for its job or its instance has changed. */
async function beginAtOnce(
  options: AcceptSendOptions,
  request: SendRequest,
  conversation: ConversationRef,
): Promise<AcceptedSend | undefined> {
  const place = isSimple(request) ? options.reserveSend?.(request.instance.id, conversation.jid) : undefined;
  if (!place) return undefined;
  const message = toMessage(options, request, conversation);
  const inserted = await acceptInPlace(options, message, place);
  return inserted && toAccepted(message, inserted);
}

/** Whether nothing in the request prevents the send from beginning as soon as it is accepted. */
function isSimple({ mode, content, delay_ms }: SendRequest): boolean {
  return mode === "sync" && content.kind !== "media" && delay_ms === 0;
}

function toAccepted({ message_id, job_id }: NewMessage, { id }: Pick<InsertedMessage, "id">): AcceptedSend {
  return { id, message_id, job_id };
}

/** Whether the send may have been accepted despite the error, so that it must not be reported as failed. */
export function isAcceptUnknown(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "SEND_TIMEOUT";
}

async function dropFilesOf(db: Db, { content, others = [] }: SendRequest): Promise<void> {
  const uploads = [content, ...others].flatMap((one) => (one.kind === "media" && one.upload) || []);
  await deleteOutgoing(db, uploads).catch(() => {});
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
  {
    instance,
    readInstance: _read,
    recipient: _recipient,
    others: _others,
    delay_ms,
    schedule,
    ...request
  }: SendRequest,
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
    send_at: schedule?.send_at,
    hold_ms:
      (schedule?.hold_ms ?? (mode === "async" ? sendHoldMs : ackTimeoutMs * itemsUntil(content))) + delay_ms,
  };
}

/** How many messages of an album are sent until this one is. */
export function itemsUntil(content: LoggedContent): number {
  return (content.kind === "media" && content.album?.position ? content.album.position : 0) + 1;
}

async function accept(options: AcceptSendOptions, message: NewMessage): Promise<InsertedMessage | undefined> {
  const { db, inserter, ackTimeoutMs } = options;
  try {
    return await inserter.write(message);
  } catch (error) {
    if (!isInsertUnknown(error)) throw error;
    const giveUpAt = performance.now() + ackTimeoutMs;
    const found = await findLateMessage(db, message, error, () => performance.now() < giveUpAt);
    const { id } = requireLateMessage(found, message, error);
    return { id, job: undefined, submitted: undefined };
  }
}
