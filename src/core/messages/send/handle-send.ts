import { sql } from "kysely";
import { createBatchLoader } from "../../../engine/batch-queue.ts";
import type { Engine } from "../../../engine/engine.ts";
import {
  type Db,
  isDatabaseUnavailable,
  isTransientDatabaseError,
  type Trx,
} from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import {
  AcceptedResponse,
  type Caller,
  type HandlerRequest,
  OkResponse,
} from "../../../platform/http/handler.ts";
import type { Route } from "../../../platform/http/route.ts";
import type { Conversations, Recipient } from "../../contacts/contacts.ts";
import { recordEvents } from "../../events/events.ts";
import { failedEvent } from "../log/message-events.ts";
import { type MessageRow, selectMessages } from "../log/message-view.ts";
import { type AcceptedItem, acceptSend, isAcceptUnknown, itemsUntil } from "./accept-send.ts";
import { createMessageInserter, type MessageInserter } from "./insert-messages.ts";
import type { MessageOutcome, OutcomeWatch } from "./outcome/outcome-watch.ts";
import { deleteOutgoing } from "./outgoing-file.ts";
import { findEarlierMessage, idempotencyOf } from "./prepare/idempotency-key.ts";
import type { ContentKind, SendInput } from "./prepare/read-content.ts";
import { type PrepareSendDeps, prepareSend, queueUnavailable, type SendCommand } from "./prepare-send.ts";
import type { SendRunner } from "./run-send.ts";
import { SEND_ERROR } from "./send-error.ts";
import {
  acceptedResponse,
  albumResponse,
  type SendResponse,
  type SentData,
  sentResponse,
} from "./send-response.ts";
import { type ReadInstance, rememberInstances } from "./sending-instance.ts";

export interface HandleSendDeps extends Omit<PrepareSendDeps, "instances"> {
  readInstance: ReadInstance;
  reserveSend: SendRunner["reserve"];
  conversations: Conversations;
  watch: OutcomeWatch;
  sendHoldMs: number;
  ackTimeoutMs: number;
}

/** The request of any send route. */
export type SendRequestContext = Omit<HandlerRequest<Route>, "input"> & { input: SendInput };

interface HandlerDeps extends HandleSendDeps, PrepareSendDeps {
  inserter: MessageInserter;
  awaitOutcome: AwaitOutcome;
}

/** Handles send routes: sync sends get 200 after the network's response, async sends get 202 at once. */
export function createSendHandler(deps: HandleSendDeps) {
  const handlerDeps: HandlerDeps = {
    ...deps,
    instances: rememberInstances(deps.readInstance),
    inserter: createMessageInserter(deps.db),
    awaitOutcome: createOutcomeWaiter(deps),
  };

  return async (
    route: string,
    instance_id: number,
    kind: ContentKind,
    { input, caller, idempotencyKey, trace }: SendRequestContext,
  ): Promise<SendResponse> => {
    const mode = modeOf(input);
    const idempotency = idempotencyOf(route, idempotencyKey, input);
    const command = { instance_id, kind, input, mode, origin: originOf(caller), idempotency, trace };
    try {
      return await handleSend(handlerDeps, command);
    } catch (error) {
      if (mode === "sync" || isAcceptUnknown(error) || !isDatabaseUnavailable(error)) throw error;
      throw queueUnavailable("The queue's database is not available.", error);
    }
  };
}

function modeOf({ async, async_send, send_async, mode, send_at }: SendInput): SendCommand["mode"] {
  return async || async_send || send_async || mode === "async" || send_at !== undefined ? "async" : "sync";
}

function originOf(caller: Caller): SendCommand["origin"] {
  return caller.kind === "user" ? "panel" : "api";
}

async function handleSend(deps: HandlerDeps, command: SendCommand): Promise<SendResponse> {
  const earlier = await findFirst(deps, command);
  if (earlier) return replay(deps, earlier, command);
  const request = await prepareSend(deps, command);
  const accepted = await acceptSend(deps, request);
  if (!accepted) return replay(deps, (await findFirst(deps, command)) ?? refuseForNow(), command);
  const { content, delay_ms } = request;
  const response =
    command.mode === "async"
      ? acceptedResponse({ ...accepted, content, send_at: request.schedule?.send_at })
      : await responseAfterOutcomes(deps, [{ ...accepted, content }, ...(accepted.others ?? [])], delay_ms);
  return withCountry(response, request.recipient);
}

/** Says which country the number was completed with. */
function withCountry(response: SendResponse, { assumed_country }: Recipient): SendResponse {
  if (assumed_country === undefined) return response;
  const data = { ...(response.data as SentData), assumed_country };
  return response instanceof AcceptedResponse
    ? new AcceptedResponse(data, response.options)
    : new OkResponse(data, response.options);
}

async function findFirst(
  { db }: HandlerDeps,
  { instance_id, idempotency }: SendCommand,
): Promise<MessageRow | undefined> {
  return idempotency ? findEarlierMessage(db, instance_id, idempotency) : undefined;
}

function refuseForNow(): never {
  throw new GatewayError(
    "IDEMPOTENCY_IN_PROGRESS",
    "The first request with this Idempotency-Key has not finished. Try again in a few seconds.",
    {
      retryAfterSeconds: 2,
    },
  );
}

/**
 * Returns the outcome of the first request with the key, under its message id. While the first request waits,
 * only its caller receives the outcome; if its wait ended without one, the repetition waits.
 */
async function replay(
  deps: HandlerDeps,
  row: MessageRow,
  { mode, input }: SendCommand,
): Promise<SendResponse> {
  const headers = { "idempotent-replayed": "true" };
  const others = await findOtherItems(deps.db, row);
  const { status, send_at, job_id } = row;
  if (mode === "async")
    return acceptedResponse(
      {
        ...row,
        job_id: job_id ?? "",
        send_at: status === "scheduled" ? send_at : undefined,
        ...(others && { others }),
      },
      headers,
    );
  const rows: [MessageRow, ...MessageRow[]] = [row, ...(others ?? [])];
  if (rows.some(isInProgress)) return refuseForNow();
  return responseAfterOutcomes(deps, rows, input.delay ?? 0, headers);
}

function isInProgress({ outcome_at, mode, deadline }: MessageRow): boolean {
  return outcome_at === null && mode === "sync" && deadline !== null && deadline > new Date();
}

/** The other items of the album that begins with a message. */
async function findOtherItems(
  db: Db,
  { instance_id, content }: MessageRow,
): Promise<MessageRow[] | undefined> {
  const ids = content.kind === "media" ? content.album?.others : undefined;
  if (!ids) return undefined;
  return selectMessages(db)
    .where("m.instance_id", "=", instance_id)
    .where("m.message_id", "in", ids)
    .orderBy("m.id")
    .execute();
}

type AwaitedSend = AcceptedItem | MessageRow;

/** Of one message, or of the items of an album. */
async function responseAfterOutcomes(
  deps: HandlerDeps,
  sends: [AwaitedSend, ...AwaitedSend[]],
  delayMs: number,
  headers = {},
): Promise<OkResponse<SentData>> {
  const [first, ...others] = sends;
  if (others.length === 0) return responseAfterOutcome(deps, first, delayMs, headers);
  const responses = sends.map((one) => responseAfterOutcome(deps, one, delayMs, headers));
  return albumResponse(sends, await Promise.allSettled(responses), headers);
}

/** Returns once the network has responded. Throws SEND_TIMEOUT after the timeout; events report the rest. */
async function responseAfterOutcome(
  deps: HandlerDeps,
  send: AwaitedSend,
  delayMs: number,
  headers = {},
): Promise<OkResponse<SentData>> {
  const { id, message_id, content } = send;
  if ("outcome_at" in send && send.outcome_at !== null) return sentResponse(send, content, headers);
  const { left, cause } = await deps.awaitOutcome(id, deps.ackTimeoutMs * itemsUntil(content) + delayMs);
  if (typeof left === "object") return sentResponse(left, content, headers);
  throw new GatewayError("SEND_TIMEOUT", "The network did not confirm the message in time.", {
    details: { message_id, id, sent: left === "never_begun" ? false : "unknown" },
    headers,
    cause,
  });
}

interface AwaitOutcomeDeps {
  db: Db;
  engine: Engine;
  watch: OutcomeWatch;
  sendHoldMs: number;
}

/** The result of the wait for a sync send. */
interface WaitResult {
  left: MessageOutcome | "never_begun" | "unknown";
  /** Why the outcome is unknown. */
  cause?: unknown;
}

/** Waits for the outcome of a send; after `timeoutMs`, ends the wait and returns the known state. */
type AwaitOutcome = (id: number, timeoutMs: number) => Promise<WaitResult>;

function createOutcomeWaiter({ db, engine, watch, sendHoldMs }: AwaitOutcomeDeps): AwaitOutcome {
  const decided = createBatchLoader<number, MessageOutcome | undefined>({
    load: (ids) => findDecided(db, ids),
  });

  async function awaitOutcome(id: number, timeoutMs: number): Promise<WaitResult> {
    const outcome = (await watch.waitFor(id, timeoutMs)) ?? (await decided.load(id));
    if (outcome) return { left: outcome };
    const left = await abandonWait(db, engine, id, sendHoldMs);
    if (left === "never_begun") return { left };
    return { left: (left === "not_waiting" && (await decided.load(id))) || "unknown" };
  }

  return (id, timeoutMs) => awaitOutcome(id, timeoutMs).catch(unknownIfTransient);
}

/** The send may have gone out: if the caller retried soon, the message would go out twice. */
function unknownIfTransient(error: unknown): WaitResult {
  if (!isTransientDatabaseError(error)) throw error;
  return { left: "unknown", cause: error };
}

async function findDecided(db: Db, ids: number[]): Promise<(MessageOutcome | undefined)[]> {
  const { rows } = await sql<MessageOutcome>`${PREPARED_STATEMENT}
    select id, message_id, jid, status, sent_at, error from message
    where id in (select unnest(${ids}::bigint[]) ${rowCountHint(ids)}) and outcome_at is not null`.execute(
    db,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** What is left: no waiting send, one that never began, or one whose outcome an event reports. */
type AbandonedSend = "not_waiting" | "never_begun" | "begun";

/**
 * Ends the wait for a sync send. The same statement fails a send that has not begun, so that it never begins
 * later, and its key becomes free. A send that has begun continues with the time limit of an async send. A
 * send whose wait has already ended does not change.
 */
async function abandonWait(db: Db, engine: Engine, id: number, holdMs: number): Promise<AbandonedSend> {
  const { left, lanes } = await db.transaction().execute((trx) => leave(trx, id, holdMs));
  engine.wake(lanes);
  return left;
}

async function leave(
  trx: Trx,
  id: number,
  holdMs: number,
): Promise<{ left: AbandonedSend; lanes: number[] }> {
  const { rows } = await sql<{ has_begun: boolean; upload: string | null }>`
    with waiting as (
      select id, submitted_at is not null as has_begun, content ->> 'upload' as upload
      from message where id = ${id} and outcome_at is null and mode = 'sync' for update
    )
    update message m set mode = 'async',
      deadline = case when w.has_begun then m.deadline + ${holdMs} * interval '1 millisecond' else m.deadline end,
      status = case when w.has_begun then m.status else 'failed' end,
      outcome_at = case when w.has_begun then null else now() end,
      error = case when w.has_begun then null else ${JSON.stringify(SEND_ERROR.notBegun)}::jsonb end,
      content = case when w.has_begun then m.content else m.content - 'upload' end
    from waiting w where m.id = w.id
    returning w.has_begun, w.upload`.execute(trx);
  const [row] = rows;
  if (!row) return { left: "not_waiting", lanes: [] };
  if (row.has_begun) return { left: "begun", lanes: [] };
  return { left: "never_begun", lanes: await deleteSend(trx, id, row.upload) };
}

async function deleteSend(trx: Trx, id: number, upload: string | null): Promise<number[]> {
  if (upload !== null) await deleteOutgoing(trx, [upload]);
  await trx.deleteFrom("idempotency").where("message", "=", id).execute();
  const row = await selectMessages(trx).where("m.id", "=", id).executeTakeFirstOrThrow();
  return recordEvents(trx, [failedEvent(row)]);
}
