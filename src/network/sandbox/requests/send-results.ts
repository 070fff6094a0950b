import type { SendResult } from "../../driver.ts";
import type { RefusalReason } from "../../send-result.ts";

export const NOT_CONNECTED: SendResult = {
  outcome: "not_sent",
  reason: "The session is not connected.",
  is_offline: true,
};
export const NO_ACK: SendResult = { outcome: "unknown", reason: "The network has not responded." };

export const NOT_IN_GROUP = "The instance is not in this group, or there is no such group.";

export function refusedResult(why: RefusalReason, reason: string): SendResult {
  const isNobody = why === "recipient_not_found" || why === "not_a_member";
  const code = isNobody ? "RECIPIENT_NOT_FOUND" : "SEND_FAILED";
  return { outcome: "refused", code, why, reason, retryable: false };
}

/** The database refused the connection, so the statement never ran. */
const NEVER_SENT = new Set(["ECONNREFUSED", "57P03", "53300"]);

/** The result after a failed statement: never sent, refused because of its data, or unknown. */
export function failedResult(error: unknown): SendResult {
  const reason = error instanceof Error ? error.message : String(error);
  if (isInvalidData(error))
    return refusedResult("unreadable", `The network could not read the message: ${reason}`);
  return NEVER_SENT.has(codeOf(error)) || failedToConnect(error)
    ? { outcome: "not_sent", reason, is_offline: true }
    : { outcome: "unknown", reason };
}

/** Over a Unix socket: a server that is not there (ENOENT) or has a full queue (EAGAIN). */
function failedToConnect(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "connect";
}

/** Whether a statement failed because of one item's data, such as U+0000. */
export function isInvalidData(error: unknown): boolean {
  return /^(22|54)/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
