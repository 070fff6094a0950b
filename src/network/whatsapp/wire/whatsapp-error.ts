import type { RefusalReason } from "../../send-result.ts";
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

const TO_THIS_CHAT: MessageRefusal = {
  why: "not_allowed",
  reason: "The network does not allow the instance to send to this chat.",
};
const NO_ADDRESS: MessageRefusal = { why: "no_address", reason: "This address no longer exists." };

interface MessageRefusal {
  why: RefusalReason;
  reason: string;
}

/** Their meaning for sends; 463 during a block of new chats is handled separately, with its own code. */
const MESSAGE_REFUSALS: Record<number, MessageRefusal> = {
  400: { why: "not_understood", reason: "The network did not understand the message." },
  401: TO_THIS_CHAT,
  403: TO_THIS_CHAT,
  404: NO_ADDRESS,
  406: { why: "content_refused", reason: "The network does not accept the content of the message." },
  410: NO_ADDRESS,
  429: {
    why: "rate_limited",
    reason: "The network limits the messages of this instance. Send more slowly.",
  },
  463: {
    why: "must_write_first",
    reason: "WhatsApp does not let this number write first to this person. Wait until the person writes.",
  },
  479: {
    why: "malformed",
    reason: "The network considers the message malformed: the recipient may have new devices. Send it again.",
  },
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
export function messageRefusalOf(code: string): MessageRefusal & { number: number } {
  const number = Number(code);
  const { why, reason } = MESSAGE_REFUSALS[number] ?? {
    why: "refused",
    reason: "The network refused the message.",
  };
  return { why, number, reason: `${reason.slice(0, -1)} (${code}).` };
}

/** The network's codes for a group that we cannot access. */
export const GROUP_ACCESS_DENIED_CODES = [401, 403, 404, 410];

/** The error for all of these codes. */
export const NOT_IN_GROUP: WhatsAppError = {
  code: "NOT_FOUND",
  reason: "The instance is not in this group, or there is no such group.",
};
