import type { OperationErrorCode } from "../../session-operations.ts";

export interface WhatsAppError {
  code: OperationErrorCode;
  reason: string;
}

const NOT_ALLOWED: WhatsAppError = {
  code: "FORBIDDEN",
  reason:
    "The network does not let the instance do this. In a group it may have to be a member, or an admin.",
};
const GONE: WhatsAppError = {
  code: "NOT_FOUND",
  reason: "The network knows nobody and nothing of this name.",
};

/** What the network's numbers mean to somebody who has asked for something. */
const OF_CALLS: Record<number, WhatsAppError> = {
  400: { code: "VALIDATION_ERROR", reason: "The network did not understand what it was asked." },
  401: NOT_ALLOWED,
  403: NOT_ALLOWED,
  404: GONE,
  405: NOT_ALLOWED,
  406: { code: "VALIDATION_ERROR", reason: "The network does not accept one of the values." },
  409: { code: "CONFLICT", reason: "It is so already, or somebody else has changed it at the same moment." },
  410: GONE,
  419: { code: "CONFLICT", reason: "The group is full." },
  429: { code: "RATE_LIMITED", reason: "The network wants fewer questions." },
};

/** What they mean to somebody who has sent a message; 463 is told apart, by its own code. */
const OF_MESSAGES: Record<number, string> = {
  400: "The network did not understand the message.",
  401: "The network does not let the instance write here.",
  403: "The network does not let the instance write here.",
  404: "There is nobody at this address any more.",
  406: "The network does not accept what the message says.",
  410: "There is nobody at this address any more.",
  429: "The network wants fewer messages from this instance.",
  479: "The network takes the message for malformed: the recipient may have new devices. It can be sent again.",
};

/** The refusal of a call by the network's number; what is not in the table has no name of its own. */
export function operationErrorOf(number: number): WhatsAppError {
  return OF_CALLS[number] ?? { code: "SEND_FAILED", reason: `The network refused it (${number}).` };
}

/** Why the network did not take a message, with its number for who wants to look further. */
export function messageErrorReasonOf(number: string): string {
  const words = OF_MESSAGES[Number(number)] ?? "The network refused the message.";
  return `${words.slice(0, -1)} (${number}).`;
}

/** With which of its numbers the network keeps us out of a group. */
export const GROUP_ACCESS_DENIED_CODES = [401, 403, 404, 410];

/** Whichever of them it is. */
export const NOT_IN_GROUP: WhatsAppError = {
  code: "NOT_FOUND",
  reason: "The instance is not in this group, or there is no such group.",
};
