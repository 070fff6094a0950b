import type { z } from "zod";
import { isDatabaseUnavailable } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import {
  AcceptedResponse,
  type Caller,
  type HandlerRequest,
  OkResponse,
} from "../../../platform/http/handler.ts";
import type { Route } from "../../../platform/http/route.ts";
import type { Conversations } from "../../contacts/contacts.ts";
import type { messagesContract } from "../contract.ts";
import type { MessageRow } from "../log/message-view.ts";
import { createMessageInserter, type MessageInserter } from "./accept/insert-messages.ts";
import { type AcceptedSend, acceptSend, isAcceptUnknown } from "./accept-send.ts";
import { type AwaitOutcome, createOutcomeWaiter } from "./outcome/await-outcome.ts";
import type { MessageOutcome, OutcomeWatch } from "./outcome/outcome-watch.ts";
import { findEarlierMessage, idempotencyOf } from "./prepare/idempotency-key.ts";
import type { ContentKind, SendInput } from "./prepare/read-content.ts";
import { type PrepareSendDeps, prepareSend, queueUnavailable, type SendCommand } from "./prepare-send.ts";
import { sendErrorToGatewayError } from "./send-error.ts";

export interface HandleSendDeps extends PrepareSendDeps {
  conversations: Conversations;
  watch: OutcomeWatch;
  sendHoldMs: number;
  ackTimeoutMs: number;
}

type SentData = z.input<(typeof messagesContract)["sendText"]["output"]>;
type SendResponse = OkResponse<SentData> | AcceptedResponse;

/** The request of any send route. */
export type SendRequestContext = Omit<HandlerRequest<Route>, "input"> & { input: SendInput };

interface HandlerDeps extends HandleSendDeps {
  inserter: MessageInserter;
  awaitOutcome: AwaitOutcome;
}

/** Handles send routes: sync sends get 200 after the network's response, async sends get 202 at once. */
export function createSendHandler(deps: HandleSendDeps) {
  const handlerDeps: HandlerDeps = {
    ...deps,
    inserter: createMessageInserter(deps.db),
    awaitOutcome: createOutcomeWaiter(deps),
  };

  return async (
    route: string,
    instance_id: number,
    kind: ContentKind,
    { input, caller, idempotencyKey }: SendRequestContext,
  ): Promise<SendResponse> => {
    const mode = modeOf(input);
    const idempotency = idempotencyOf(route, idempotencyKey, input);
    const command = { instance_id, kind, input, mode, origin: originOf(caller), idempotency };
    try {
      return await handleSend(handlerDeps, command);
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

async function handleSend(deps: HandlerDeps, command: SendCommand): Promise<SendResponse> {
  const earlier = await findFirst(deps, command);
  if (earlier) return replay(deps, earlier, command);
  const request = await prepareSend(deps, command);
  const accepted = await acceptSend(deps, request);
  if (!accepted) return replay(deps, (await findFirst(deps, command)) ?? refuseForNow(), command);
  return command.mode === "async"
    ? acceptedResponse(accepted)
    : responseAfterOutcome(deps, accepted, request.delay_ms);
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
  if (mode === "async") return acceptedResponse({ ...row, job_id: row.job_id ?? "" }, headers);
  if (row.outcome_at !== null) return sentResponse(row, headers);
  const isBeingAnswered = row.mode === "sync" && row.deadline !== null && row.deadline > new Date();
  if (isBeingAnswered) return refuseForNow();
  return responseAfterOutcome(deps, row, input.delay ?? 0, headers);
}

function acceptedResponse({ id, message_id, job_id }: AcceptedSend, headers = {}): AcceptedResponse {
  const queued = { queued: true, jobId: job_id, pendingMessageId: message_id };
  return new AcceptedResponse(
    { ...queued, message: { id, status: "pending" } },
    { message: "Message queued", beside: queued, headers },
  );
}

function sentResponse(row: MessageOutcome, headers = {}): OkResponse<SentData> {
  const { message_id, id, jid, status, sent_at } = row;
  if (status === "failed" || status === "received") throw sendErrorToGatewayError(row.error, row, headers);
  const timestamp = sent_at.toISOString();
  return new OkResponse(
    { message_id, providerMessageId: message_id, id, jid, status, timestamp },
    { headers },
  );
}

/** Returns once the network has responded. Throws SEND_TIMEOUT after the timeout; events report the rest. */
async function responseAfterOutcome(
  deps: HandlerDeps,
  { id, message_id }: Pick<AcceptedSend, "id" | "message_id">,
  delayMs: number,
  headers = {},
): Promise<OkResponse<SentData>> {
  const { left, cause } = await deps.awaitOutcome(id, deps.ackTimeoutMs + delayMs);
  if (typeof left === "object") return sentResponse(left, headers);
  throw new GatewayError("SEND_TIMEOUT", "The network did not confirm the message in time.", {
    details: { message_id, id, sent: left === "never_begun" ? false : "unknown" },
    headers,
    cause,
  });
}
