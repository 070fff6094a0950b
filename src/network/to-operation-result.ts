import type { SendResult } from "./send-result.ts";
import type { OperationResult } from "./session-operations.ts";

/** The result of a send as that of an operation: the time at which the network accepted it. */
export function toOperationResult(result: SendResult): OperationResult<Date> {
  if (result.outcome === "accepted") return { outcome: "done", value: result.at };
  const { reason } = result;
  if (result.outcome === "unknown") return { outcome: "unknown", reason };
  if (result.outcome === "not_sent") return { outcome: "failed", reason };
  return {
    outcome: "refused",
    code: result.code === "REACHOUT_TIMELOCK" ? "RATE_LIMITED" : result.code,
    reason,
  };
}
