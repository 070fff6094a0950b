import type { ReachableSession } from "../../network/driver.ts";
import type { OperationErrorCode, OperationResult } from "../../network/session-operations.ts";
import type { ErrorCode } from "../../platform/error-codes.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { withTimeout } from "../../platform/limits/with-timeout.ts";

export interface SessionOperationDeps {
  /** Throws NOT_FOUND or INSTANCE_NOT_CONNECTED. */
  requireConnected: (instanceId: number) => Promise<unknown>;
  /** The live session of an instance, on this node or another, while it is connected. */
  findSession: (instanceId: number) => Promise<ReachableSession | undefined>;
  timeoutMs: number;
}

/** Runs an operation on an instance's live session. A refusal, also NOT_SUPPORTED, is thrown with its code. */
export type RunSessionOperation = <Value>(
  instanceId: number,
  operation: (session: ReachableSession) => Promise<OperationResult<Value>>,
) => Promise<Value>;

export function createSessionOperationRunner({
  requireConnected,
  findSession,
  timeoutMs,
}: SessionOperationDeps): RunSessionOperation {
  return async (instanceId, operation) => {
    await requireConnected(instanceId);
    const session = await findSession(instanceId);
    if (!session) throw sessionUnreachable();
    return unwrapOperationResult(await withTimeout(operation(session), timeoutMs));
  };
}

/** No node has the session at this moment. */
export function sessionUnreachable(): GatewayError {
  return new GatewayError("UNAVAILABLE", "The session cannot be reached now. Try again in a moment.", {
    retryAfterSeconds: 5,
  });
}

function undecided(reason: string): GatewayError {
  const sentence =
    "The node with the session did not report whether the operation was done. Check before you repeat it.";
  return new GatewayError("SEND_TIMEOUT", sentence, { cause: new Error(reason) });
}

/** The value of a call; what the network refuses is thrown. */
export function unwrapOperationResult<Value>(result: OperationResult<Value> | undefined): Value {
  if (!result) throw new GatewayError("SEND_TIMEOUT", "The network did not respond in time.");
  if (result.outcome === "done") return result.value;
  if (result.outcome === "unreachable") throw sessionUnreachable();
  if (result.outcome === "unknown") throw undecided(result.reason);
  if (result.outcome === "failed") throw new GatewayError("SEND_FAILED", result.reason);
  const { code, reason, retry_after_seconds } = result;
  throw new GatewayError(CODE_OF[code], reason, { retryAfterSeconds: retry_after_seconds });
}

const CODE_OF = {
  NOT_FOUND: "NOT_FOUND",
  FORBIDDEN: "FORBIDDEN",
  RATE_LIMITED: "RATE_LIMITED",
  RECIPIENT_NOT_FOUND: "RECIPIENT_NOT_FOUND",
  VALIDATION_ERROR: "VALIDATION_ERROR",
  CONFLICT: "CONFLICT",
  NOT_SUPPORTED: "NOT_SUPPORTED",
  SEND_FAILED: "SEND_FAILED",
} satisfies Record<OperationErrorCode, ErrorCode>;
