import type { Engine } from "../../../engine/engine.ts";
import { retryUntilCommitted } from "../../../engine/retry-until-committed.ts";
import { newMessageId, phoneOfJid } from "../../../network/jid.ts";
import type { Db } from "../../../platform/db/database.ts";
import { isBackendKnown } from "../../../platform/db/unknown-commit-outcome.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { withTimeout } from "../../../platform/limits/with-timeout.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import { inSpan, type NewSpan, traceParentOf } from "../../../platform/tracing/tracing.ts";
import { ulid } from "../../../platform/ulid.ts";
import type { ConversationRef, Conversations, NumberResolver, Recipient } from "../../contacts/contacts.ts";
import type { StoredContent } from "../log/message-view.ts";
import { findLateMessage, isInsertUnknown, requireLateMessage } from "./find-late-message.ts";
import type { InsertedMessage, MessageInserter, NewMessage } from "./insert-messages.ts";
import { deleteOutgoing } from "./outgoing-file.ts";
import type { IdempotencyKey } from "./prepare/idempotency-key.ts";
import type { Schedule } from "./prepare/read-schedule.ts";
import type { SendReservation, SendRunner } from "./run-send.ts";
import type { SendingInstance } from "./sending-instance.ts";
import { toSendRow } from "./submit-accepted.ts";
import { clearSubmitted } from "./submit-sends.ts";

interface AcceptInPlaceOptions {
  db: Db;
  engine: Engine;
  inserter: MessageInserter;
  ackTimeoutMs: number;
}

/** A checked and parsed send, as `prepareSend` returns it. */
export interface SendRequest {
  instance: SendingInstance;
  /** Set if `instance` was remembered: reads it, and checks that it can accept the send. */
  readInstance?: () => Promise<SendingInstance>;
  recipient: Recipient;
  content: StoredContent;
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

export type AcceptedSend = Pick<NewMessage, "message_id" | "job_id"> & { id: number };

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
    if (!isAcceptUnknown(error)) await dropFileOf(options.db, request.content);
    throw error;
  });
  if (!accepted) await dropFileOf(options.db, request.content);
  return accepted;
}

async function commit(options: AcceptSendOptions, request: SendRequest): Promise<AcceptedSend | undefined> {
  const conversation = await conversationOf(options, request);
  const begun = await beginAtOnce(options, request, conversation);
  if (begun) return begun;
  const instance = (await request.readInstance?.()) ?? request.instance;
  const message = toMessage(options, { ...request, instance }, conversation);
  const inserted = await accept(options, message);
  if (!inserted) return undefined;
  faultPoint("accept:after-commit");
  if (inserted.job) options.engine.dispatch([inserted.job]);
  else options.engine.wake([message.lane]);
  return toAccepted(message, inserted);
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
  { instance, readInstance: _read, recipient: _recipient, delay_ms, schedule, ...request }: SendRequest,
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
    hold_ms: (schedule?.hold_ms ?? (mode === "async" ? sendHoldMs : ackTimeoutMs)) + delay_ms,
  };
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

/**
 * Accepts a send, and begins it in its reserved place if the same statement could submit it. Undefined: nothing
 * is accepted.
 */
async function acceptInPlace(
  options: AcceptInPlaceOptions,
  message: NewMessage,
  place: SendReservation,
): Promise<Pick<InsertedMessage, "id"> | undefined> {
  let inserted: InsertedMessage | undefined;
  try {
    inserted = await options.inserter.write({ ...message, owner: place.owner });
  } catch (error) {
    if (isInsertUnknown(error)) return findInPlace(options, message, place, error);
    place.cancel();
    throw error;
  }
  if (inserted) faultPoint("accept:after-commit");
  if (inserted?.job && inserted.submitted) {
    faultPoint("accept:before-run");
    place.run(inserted.job, toSendRow({ ...message, id: inserted.id }, inserted.submitted));
  } else {
    place.cancel();
  }
  return inserted;
}

/** Keeps the place, perhaps for longer than the caller waits, until the commit has arrived or cannot arrive. */
async function findInPlace(
  options: AcceptInPlaceOptions,
  message: NewMessage,
  place: SendReservation,
  cause: unknown,
): Promise<{ id: number }> {
  const found = withdrawLate(options, message, place, cause).finally(() => place.cancel());
  return requireLateMessage(await withTimeout(found, options.ackTimeoutMs), message, cause);
}

/**
 * Lets the lane run a late send as one that has not begun: nothing has gone out from its place. If the lane is
 * lost meanwhile, the next owner treats the send as one with an unknown outcome.
 */
async function withdrawLate(
  { db, engine, ackTimeoutMs }: AcceptInPlaceOptions,
  message: NewMessage,
  { lane, owner }: SendReservation,
  cause: unknown,
): Promise<{ id: number } | null | undefined> {
  const giveUpAt = isBackendKnown(cause) ? Number.POSITIVE_INFINITY : performance.now() + ackTimeoutMs;
  const isOwned = () => engine.findOwnedLane(lane.kind, lane.key)?.epoch === lane.epoch;
  const found = await findLateMessage(db, message, cause, () => isOwned() && performance.now() < giveUpAt);
  if (!found) return found;
  await retryUntilCommitted(engine, lane, () => clearSubmitted(db, owner.node, lane, found.id)).catch(
    () => {},
  );
  return found;
}
