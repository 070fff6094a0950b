import type { OperationErrorCode } from "../../session-operations.ts";

export interface WhatsAppError {
  code: OperationErrorCode;
  reason: string;
}

const NOT_ALLOWED: WhatsAppError = {
  code: "FORBIDDEN",
  reason:
    "The network does not allow the instance to do this. In a group it may have to be a member or an admin.",
};
const GONE: WhatsAppError = {
  code: "NOT_FOUND",
  reason: "The network does not know this address.",
};

/** Meaning of the network's error codes for operations. */
const OPERATION_ERRORS: Record<number, WhatsAppError> = {
  400: { code: "VALIDATION_ERROR", reason: "The network did not understand the request." },
  401: NOT_ALLOWED,
  403: NOT_ALLOWED,
  404: GONE,
  405: NOT_ALLOWED,
  406: { code: "VALIDATION_ERROR", reason: "The network does not accept one of the values." },
  409: {
    code: "CONFLICT",
    reason:
      "What you change has this value already, or another device changed it at the same moment. Read it again.",
  },
  410: GONE,
  419: { code: "CONFLICT", reason: "The group is full." },
  429: { code: "RATE_LIMITED", reason: "The network limits requests of this kind. Try again later." },
};

/** Their meaning for sends; 463 during a block of new chats is handled separately, with its own code. */
const MESSAGE_ERROR_REASONS: Record<number, string> = {
  400: "The network did not understand the message.",
  401: "The network does not allow the instance to send to this chat.",
  403: "The network does not allow the instance to send to this chat.",
  404: "This address no longer exists.",
  406: "The network does not accept the content of the message.",
  410: "This address no longer exists.",
  429: "The network limits the messages of this instance. Send more slowly.",
  463: "WhatsApp does not let this number write first to this person. Wait until the person writes.",
  479: "The network considers the message malformed: the recipient may have new devices. Send it again.",
};

/** Maps the network's code to the error of an operation; unknown codes get a generic one. */
export function operationErrorOf(number: number): WhatsAppError {
  return (
    OPERATION_ERRORS[number] ?? {
      code: "SEND_FAILED",
      reason: `The network refused the request (${number}).`,
    }
  );
}

/** Why the network rejected a message, with its code for further searches. */
export function messageErrorReasonOf(number: string): string {
  const message = MESSAGE_ERROR_REASONS[Number(number)] ?? "The network refused the message.";
  return `${message.slice(0, -1)} (${number}).`;
}

/** The network's codes for a group that we cannot access. */
export const GROUP_ACCESS_DENIED_CODES = [401, 403, 404, 410];

/** The error for all of these codes. */
export const NOT_IN_GROUP: WhatsAppError = {
  code: "NOT_FOUND",
  reason: "The instance is not in this group, or there is no such group.",
};
