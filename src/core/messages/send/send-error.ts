import type { SendResult } from "../../../network/driver.ts";
import { ERROR_CODES, type ErrorCode } from "../../../platform/error-codes.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { SANDBOX_OFF } from "../../instances/instances.ts";

/** Why a send or an action failed, as its row and its event store it. */
export interface SendError {
  code: string;
  message: string;
  retryable: boolean;
  /** ISO 8601. A repetition before this time would fail in the same way. */
  until?: string;
}

/** The gateway's own errors for sends and actions. */
export const SEND_ERROR = {
  notBegun: { code: "SEND_TIMEOUT", message: "The send did not start in time.", retryable: true },
  notConfirmed: {
    code: "SEND_TIMEOUT",
    message: "The network did not confirm the message in time.",
    retryable: true,
  },
  unknownOutcome: {
    code: "UNKNOWN_OUTCOME",
    message: "The network did not confirm the message, but it may have arrived.",
    retryable: false,
  },
  neverConnected: {
    code: "INSTANCE_NOT_CONNECTED",
    message: "The instance did not connect within the hold time.",
    retryable: true,
  },
  loggedOut: {
    code: "INSTANCE_NOT_CONNECTED",
    message: "The instance is logged out. Connect it again, then send the message again.",
    retryable: false,
  },
  banned: {
    code: "INSTANCE_NOT_CONNECTED",
    message: "The network has banned the number of the instance.",
    retryable: false,
  },
  removed: {
    code: "INSTANCE_NOT_CONNECTED",
    message: "The instance was removed.",
    retryable: false,
  },
  neverReached: {
    code: "SEND_FAILED",
    message:
      "Sends to several chats did not reach the network, and the pause that followed outlasted the hold time.",
    retryable: true,
  },
  fileGone: { code: "SEND_FAILED", message: "The message's file no longer exists.", retryable: false },
  restricted: {
    code: "ACCOUNT_RESTRICTED",
    message: "The account is not active, so it cannot send.",
    retryable: false,
  },
  sandboxOff: { code: "FORBIDDEN", message: SANDBOX_OFF, retryable: false },
  notSupported: { code: "NOT_SUPPORTED", message: "The session cannot do this.", retryable: false },
} satisfies Record<string, SendError>;

const REASON_LENGTH = 200;

/** The error after attempts that never reached the network, so the message can be sent again. */
export function undelivered(attempts: number, reason: string): SendError {
  const times = attempts === 1 ? "in one attempt" : `in ${attempts} attempts`;
  const message = `The message could not be handed to the network ${times}: ${reason.slice(0, REASON_LENGTH)}`;
  return { code: "SEND_FAILED", message, retryable: true };
}

/** The network's rejection as an error of the gateway. */
export function toSendError({
  code,
  reason,
  retryable,
  until,
}: Extract<SendResult, { outcome: "refused" }>): SendError {
  return { code, message: reason, retryable, ...(until && { until: until.toISOString() }) };
}

/** The error while the network rejects new chats from the instance. */
export function newChatsLocked(until: Date): SendError {
  const message = "WhatsApp does not let this number start new chats for a while.";
  return { code: "REACHOUT_TIMELOCK", message, retryable: true, until: until.toISOString() };
}

/** The error for the caller: the network's own code if the table of codes contains it. */
export function sendErrorToGatewayError(
  error: SendError | null,
  { message_id, id }: { message_id: string; id: number },
  headers: Record<string, string> = {},
): GatewayError {
  const { code = "SEND_FAILED", message = "The message was not sent.", retryable = false } = error ?? {};
  const until = error?.until;
  const waitMs = until === undefined ? 0 : Math.max(1, Date.parse(until) - Date.now());
  return new GatewayError(isErrorCode(code) ? code : "SEND_FAILED", message, {
    details: { message_id, id, reason: code, retryable, ...(until && { until }) },
    ...(until && { retryAfterSeconds: Math.ceil(waitMs / 1000) }),
    headers,
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
