import type { CallRefusal, CallResult } from "../calls.ts";
import { refusalOfCall } from "./refusals.ts";

/** The network's word against something that was asked, or what makes asking pointless. */
export class Refused extends Error {
  readonly code: CallRefusal;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: CallRefusal, reason: string, retryAfterSeconds?: number) {
    super(reason);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The network does not say for how long it wants to be left alone. */
const PAUSE_SECONDS = 60;

/** What the network means by an error of its own; `pause` in seconds, where it names one. */
export function refusalOf(code: number, text: string, pause?: number): Refused | undefined {
  if (code === 429 || text === "rate-overlimit") {
    const { code: name, reason } = refusalOfCall(429);
    return new Refused(name, reason, pause ?? PAUSE_SECONDS);
  }
  if (code >= 500) return undefined;
  const { code: name, reason } = refusalOfCall(code);
  return new Refused(name, reason);
}

/** How a call ended that threw. */
export function failedCall(error: unknown): Exclude<CallResult<never>, { outcome: "done" }> {
  const reason = error instanceof Error ? error.message : String(error);
  const refused = error instanceof Refused ? error : refusalIn(error, reason);
  if (!refused) return { outcome: "failed", reason };
  const { code, message, retryAfterSeconds } = refused;
  return {
    outcome: "refused",
    code,
    reason: message,
    ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
  };
}

/** The client library puts the network's number into `data`; its `output` is only its own opinion. */
function refusalIn(error: unknown, reason: string): Refused | undefined {
  const code = codeOf(error);
  return code === undefined ? undefined : refusalOf(code, reason);
}

/** The number of the network's error answer, if it is one. */
export function codeOf(error: unknown): number | undefined {
  const { data } = (error ?? {}) as { data?: unknown };
  return typeof data === "number" ? data : undefined;
}
