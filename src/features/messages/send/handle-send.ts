import { sql } from "kysely";
import type { z } from "zod";
import { createBatchWriter } from "../../../engine/batch-writer.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Db, isDatabaseUnavailable, isTransientDatabaseError } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT } from "../../../platform/db/prepared-statement.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import {
  AcceptedResponse,
  type Caller,
  type HandlerRequest,
  OkResponse,
} from "../../../platform/http/handler.ts";
import type { Route } from "../../../platform/http/route.ts";
import type { Conversations, NumberResolver } from "../../contacts/contacts.ts";
import type { messagesContract } from "../contract.ts";
import type { MessageRow } from "../log/message-view.ts";
import { createMessageInserter } from "./accept/insert-messages.ts";
import {
  type AcceptedSend,
  type AcceptSendOptions,
  acceptSend,
  isAcceptUnknown,
  queueUnavailable,
  requireSendable,
  type SendRequest,
} from "./accept-send.ts";
import { abandonWait } from "./outcome/abandon-wait.ts";
import type { MessageOutcome, OutcomeWatch } from "./outcome/outcome-watch.ts";
import { findEarlierMessage, type IdempotencyKey, idempotencyOf } from "./prepare/idempotency-key.ts";
import {
  type ContentKind,
  findQuoted,
  type ReadContentOptions,
  readContent,
  readRecipient,
  type SendInput,
} from "./prepare/read-content.ts";
import { resolveMentions } from "./prepare/resolve-mentions.ts";
import { useQuickReply } from "./prepare/use-quick-reply.ts";
import { requireNewChatAllowed } from "./run/new-chats.ts";
import { sendErrorToGatewayError } from "./send-error.ts";
import type { ReadInstance } from "./sending-instance.ts";

export interface HandleSendDeps extends ReadContentOptions {
  db: Db;
  engine: Engine;
  conversations: Conversations;
  numbers: NumberResolver;
  readInstance: ReadInstance;
  watch: OutcomeWatch;
  queue: "postgres" | "off";
  sendHoldMs: number;
  ackTimeoutMs: number;
}

type SentData = z.input<(typeof messagesContract)["sendText"]["output"]>;
type SendResponse = OkResponse<SentData> | AcceptedResponse;

/** The request of any send route. */
export type SendRequestContext = Omit<HandlerRequest<Route>, "input"> & { input: SendInput };

/** A send while its route handles it. */
interface SendCommand {
  instance_id: number;
  kind: ContentKind;
  input: SendInput;
  mode: SendRequest["mode"];
  origin: SendRequest["origin"];
  idempotency: IdempotencyKey | null;
}

/** Undefined while it has no outcome. */
type ReadOutcome = (id: number) => Promise<MessageOutcome | undefined>;

type SenderOptions = HandleSendDeps & AcceptSendOptions & { readDecided: ReadOutcome };

/** Handles send routes: 200 after the network has responded, 202 at once. */
export function createSendHandler(deps: HandleSendDeps) {
  const decided = createBatchWriter<number, MessageOutcome | undefined>({
    write: (ids) => findDecided(deps.db, ids),
  });
  const readDecided: ReadOutcome = (id) => decided.write(id);
  const options = { ...deps, acceptor: createMessageInserter(deps.db), readDecided };

  return async (
    route: string,
    instance_id: number,
    kind: ContentKind,
    { input, caller, idempotencyKey }: SendRequestContext,
  ): Promise<SendResponse> => {
    const mode = modeOf(input);
    const idempotency = idempotencyOf(route, idempotencyKey, input);
    const order = { instance_id, kind, input, mode, origin: originOf(caller), idempotency };
    try {
      return await carryOut(options, order);
    } catch (error) {
      if (mode === "sync" || isAcceptUnknown(error) || !isDatabaseUnavailable(error)) throw error;
      throw queueUnavailable("The queue's database is not available.", error);
    }
  };
}

function modeOf({ async, async_send, send_async, mode }: SendInput): SendCommand["mode"] {
  return async || async_send || send_async || mode === "async" ? "async" : "sync";
}

function originOf(caller: Caller): SendCommand["origin"] {
  return caller.kind === "user" ? "panel" : "api";
}

async function carryOut(options: SenderOptions, order: SendCommand): Promise<SendResponse> {
  const earlier = await findFirst(options.db, order);
  if (earlier) return replay(options, earlier, order);
  const request = await readRequest(options, order);
  const taken = await acceptSend(options, request);
  if (!taken) return replay(options, (await findFirst(options.db, order)) ?? refuseForNow(), order);
  return order.mode === "async"
    ? acceptedAnswer(taken)
    : answerAfterOutcome(options, taken, request.delay_ms);
}

async function findFirst(db: Db, { instance_id, idempotency }: SendCommand): Promise<MessageRow | undefined> {
  return idempotency ? findEarlierMessage(db, instance_id, idempotency) : undefined;
}

/** Rejects what can be rejected without the file before the file is fetched. */
async function readRequest(
  options: HandleSendDeps & AcceptSendOptions,
  order: SendCommand,
): Promise<SendRequest> {
  const { instance_id, kind, input, mode, origin, idempotency } = order;
  const quoted = await findQuoted(options.db, instance_id, kind, input);
  const recipient = readRecipient(kind, input, quoted, options.defaultCountry);
  const instance = await requireSendable(options, instance_id, mode);
  if (mode === "sync") await requireNewChatAllowed(options.db, instance, recipient.jid);
  const said = await useQuickReply(options.db, instance.account_id, kind, input);
  const content = await readContent(
    { ...options, account_id: instance.account_id },
    said.kind,
    said.input,
    quoted && { of: quoted, to: recipient.jid },
  );
  return {
    instance,
    recipient,
    content: await resolveMentions(options.numbers, instance, content),
    mode,
    origin,
    client_message_id: input.client_message_id ?? null,
    track_id: input.track_id ?? null,
    metadata: input.metadata ?? null,
    delay_ms: input.delay ?? 0,
    idempotency,
  };
}

function refuseForNow(): never {
  throw new GatewayError("IDEMPOTENCY_IN_PROGRESS", "The first request with this key has no outcome yet.", {
    retryAfterSeconds: 2,
  });
}

/**
 * Returns the outcome of the first request with the key, under its message id. While the first request is
 * still open, only its caller receives the outcome. If it ended without one, the repetition waits for it.
 */
async function replay(
  options: SenderOptions,
  row: MessageRow,
  { mode, input }: SendCommand,
): Promise<SendResponse> {
  const headers = { "idempotent-replayed": "true" };
  if (mode === "async") return acceptedAnswer({ ...row, job_id: row.job_id ?? "" }, headers);
  if (row.outcome_at !== null) return sentAnswer(row, headers);
  const isBeingAnswered = row.mode === "sync" && row.deadline !== null && row.deadline > new Date();
  if (isBeingAnswered) return refuseForNow();
  return answerAfterOutcome(options, row, input.delay ?? 0, headers);
}

function acceptedAnswer({ id, message_id, job_id }: AcceptedSend, headers = {}): AcceptedResponse {
  const queued = { queued: true, jobId: job_id, pendingMessageId: message_id };
  return new AcceptedResponse(
    { ...queued, message: { id, status: "pending" } },
    { message: "Message queued", beside: queued, headers },
  );
}

function sentAnswer(row: MessageOutcome, headers = {}): OkResponse<SentData> {
  const { message_id, id, jid, status, sent_at } = row;
  if (status === "failed" || status === "received") throw sendErrorToGatewayError(row.error, row, headers);
  const timestamp = sent_at.toISOString();
  return new OkResponse(
    { message_id, providerMessageId: message_id, id, jid, status, timestamp },
    { headers },
  );
}

/**
 * Returns once the network has responded. After the timeout it returns what is known; events report the rest.
 */
async function answerAfterOutcome(
  options: SenderOptions,
  { id, message_id }: Pick<AcceptedSend, "id" | "message_id">,
  delayMs: number,
  headers = {},
): Promise<OkResponse<SentData>> {
  const { left, cause } = await awaitOutcome(options, id, delayMs).catch(unknownIfAway);
  if (typeof left === "object") return sentAnswer(left, headers);
  throw new GatewayError("SEND_TIMEOUT", "The network did not confirm the message in time.", {
    details: { message_id, id, sent: left === "never_begun" ? false : "unknown" },
    headers,
    cause,
  });
}

interface WaitResult {
  left: MessageOutcome | "never_begun" | "unknown";
  /** Why the outcome is unknown. */
  cause?: unknown;
}

async function awaitOutcome(
  { db, engine, watch, ackTimeoutMs, sendHoldMs, readDecided }: SenderOptions,
  id: number,
  delayMs: number,
): Promise<WaitResult> {
  const decided = (await watch.wait(id, ackTimeoutMs + delayMs)) ?? (await readDecided(id));
  if (decided) return { left: decided };
  const left = await abandonWait(db, engine, id, sendHoldMs);
  if (left === "never_begun") return { left };
  return { left: (left === "not_waiting" && (await readDecided(id))) || "unknown" };
}

/** The send was accepted and may have gone out: a caller told to retry soon would send it twice. */
function unknownIfAway(error: unknown): WaitResult {
  if (!isTransientDatabaseError(error)) throw error;
  return { left: "unknown", cause: error };
}

async function findDecided(db: Db, ids: number[]): Promise<(MessageOutcome | undefined)[]> {
  const { rows } = await sql<MessageOutcome>`${PREPARED_STATEMENT}
    select id, message_id, jid, status, sent_at, error from message
    where id = any(${ids}::bigint[]) and outcome_at is not null`.execute(db);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}
