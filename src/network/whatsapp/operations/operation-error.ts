import type { OperationErrorCode, OperationResult } from "../../session-operations.ts";
import { operationErrorOf } from "../wire/whatsapp-error.ts";

/** The network's refusal of an operation, or the reason why it was not requested. */
export class OperationError extends Error {
  readonly code: OperationErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: OperationErrorCode, reason: string, retryAfterSeconds?: number) {
    super(reason);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The network does not say how long to wait. */
const PAUSE_SECONDS = 60;

/** Maps an error of the network; `pause` in seconds, if the network names one. */
export function toOperationError(code: number, text: string, pause?: number): OperationError | undefined {
  if (code === 429 || text === "rate-overlimit") {
    const { code: name, reason } = operationErrorOf(429);
    return new OperationError(name, reason, pause ?? PAUSE_SECONDS);
  }
  if (code >= 500) return undefined;
  const { code: name, reason } = operationErrorOf(code);
  return new OperationError(name, reason);
}

/** The result of an operation that threw. */
export function toFailedResult(error: unknown): Exclude<OperationResult<never>, { outcome: "done" }> {
  const reason = error instanceof Error ? error.message : String(error);
  const refused = error instanceof OperationError ? error : refusalIn(error, reason);
  if (!refused) return { outcome: "failed", reason };
  const { code, message, retryAfterSeconds } = refused;
  return {
    outcome: "refused",
    code,
    reason: message,
    ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
  };
}

/** Baileys puts the network's code into `data`; its `output` is only its own guess. */
function refusalIn(error: unknown, reason: string): OperationError | undefined {
  const code = errorCodeOf(error);
  return code === undefined ? undefined : toOperationError(code, reason);
}

/** The network's error code, if the error has one. */
export function errorCodeOf(error: unknown): number | undefined {
  const { data } = (error ?? {}) as { data?: unknown };
  return typeof data === "number" ? data : undefined;
}
