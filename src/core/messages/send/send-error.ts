import type { SendResult } from "../../../network/driver.ts";
import { ERROR_CODES, type ErrorCode } from "../../../platform/error-codes.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { SendError, SendParams } from "../../../platform/send-reasons.ts";
import { SANDBOX_OFF } from "../../instances/instances.ts";

/** The gateway's own errors for sends and actions. */
export const SEND_ERROR = {
  notBegun: {
    code: "SEND_TIMEOUT",
    reason: "not_begun",
    params: {},
    message: "The send did not start in time.",
    retryable: true,
  },
  notConfirmed: {
    code: "SEND_TIMEOUT",
    reason: "not_confirmed",
    params: {},
    message: "The network did not confirm the message in time.",
    retryable: true,
  },
  unknownOutcome: {
    code: "UNKNOWN_OUTCOME",
    reason: "unknown_outcome",
    params: {},
    message: "The network did not confirm the message, but it may have arrived.",
    retryable: false,
  },
  neverConnected: {
    code: "INSTANCE_NOT_CONNECTED",
    reason: "never_connected",
    params: {},
    message: "The instance did not connect within the hold time.",
    retryable: true,
  },
  loggedOut: {
    code: "INSTANCE_NOT_CONNECTED",
    reason: "logged_out",
    params: {},
    message: "The instance is logged out. Connect it again, then send the message again.",
    retryable: false,
  },
  banned: {
    code: "INSTANCE_NOT_CONNECTED",
    reason: "banned",
    params: {},
    message: "The network has banned the number of the instance.",
    retryable: false,
  },
  removed: {
    code: "INSTANCE_NOT_CONNECTED",
    reason: "removed",
    params: {},
    message: "The instance was removed.",
    retryable: false,
  },
  neverReached: {
    code: "SEND_FAILED",
    reason: "never_reached",
    params: {},
    message:
      "Sends to several chats did not reach the network, and the pause that followed outlasted the hold time.",
    retryable: true,
  },
  fileGone: {
    code: "SEND_FAILED",
    reason: "file_gone",
    params: {},
    message: "The message's file no longer exists.",
    retryable: false,
  },
  restricted: {
    code: "ACCOUNT_RESTRICTED",
    reason: "account_restricted",
    params: {},
    message: "The account is not active, so it cannot send.",
    retryable: false,
  },
  sandboxOff: {
    code: "FORBIDDEN",
    reason: "sandbox_off",
    params: {},
    message: SANDBOX_OFF,
    retryable: false,
  },
  cancelled: {
    code: "CANCELLED",
    reason: "cancelled",
    params: {},
    message: "The scheduled message was cancelled.",
    retryable: false,
  },
  notSupported: {
    code: "NOT_SUPPORTED",
    reason: "not_supported",
    params: {},
    message: "The session cannot do this.",
    retryable: false,
  },
} as const satisfies Record<string, SendError>;

const REASON_LENGTH = 200;

/** The error after attempts that never reached the network, so the message can be sent again. */
export function undelivered(attempts: number, reason: string): SendError {
  const times = attempts === 1 ? "in one attempt" : `in ${attempts} attempts`;
  const message = `The message could not be handed to the network ${times}: ${reason.slice(0, REASON_LENGTH)}`;
  // Without the cause, which may name people: params outlive an anonymisation.
  return { code: "SEND_FAILED", reason: "undelivered", params: { attempts }, message, retryable: true };
}

/** The network's rejection as an error of the gateway. */
export function toSendError({
  code,
  why,
  number,
  reason,
  retryable,
  until,
}: Extract<SendResult, { outcome: "refused" }>): SendError {
  const params: SendParams = number === undefined ? {} : { number };
  const error = { code, reason: why, params, message: reason, retryable };
  return { ...error, ...(until && { until: until.toISOString() }) };
}

/** The error while the network rejects new chats from the instance. */
export function newChatsLocked(until: Date): SendError {
  const message = "WhatsApp does not let this number start new chats for a while.";
  const error = { code: "REACHOUT_TIMELOCK", reason: "new_chats_locked", params: {}, message } as const;
  return { ...error, retryable: true, until: until.toISOString() };
}

/** The error for the caller: the network's own code if the table of codes contains it. */
export function sendErrorToGatewayError(
  error: (Omit<SendError, "reason"> & { reason: string }) | null,
  { message_id, id }: { message_id: string; id: number },
  headers: Record<string, string> = {},
): GatewayError {
  const { code = "SEND_FAILED", message = "The message was not sent.", retryable = false } = error ?? {};
  const until = error?.until;
  const waitMs = until === undefined ? 0 : Math.max(1, Date.parse(until) - Date.now());
  return new GatewayError(isErrorCode(code) ? code : "SEND_FAILED", message, {
    details: {
      message_id,
      id,
      reason: code,
      retryable,
      ...(error && { error: { reason: error.reason, params: error.params } }),
      ...(until && { until }),
    },
    ...(until && { retryAfterSeconds: Math.ceil(waitMs / 1000) }),
    headers,
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
