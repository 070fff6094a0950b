import { setTimeout as sleep } from "node:timers/promises";
import { WaygateError } from "../client/client.ts";

/** Together long enough for a restart of the gateway. */
const PAUSES_MS = [250, 1_000, 3_000, 5_000];

/** Why a response is missing, as reported to the assistant. */
export interface ToolError {
  success: false;
  code: string;
  message: string;
  details?: unknown;
  request_id?: string;
  retry_after_seconds?: number;
}

/** Retries while the gateway is unreachable, if repeating the request is safe. */
export async function requestWithRetry<T>(
  send: () => Promise<T>,
  { isRepeatable, signal }: { isRepeatable: boolean; signal: AbortSignal },
): Promise<T> {
  for (const pause of isRepeatable ? PAUSES_MS : []) {
    try {
      return await send();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await sleep(pause, undefined, { signal });
    }
  }
  return send();
}

function isPassing(error: unknown): boolean {
  if (error instanceof WaygateError) {
    return error.status === 503 || error.code === "IDEMPOTENCY_IN_PROGRESS";
  }
  return isConnectionLost(error);
}

/** `fetch` reports it as a TypeError with the reason as its cause. */
function isConnectionLost(error: unknown): error is TypeError {
  return error instanceof TypeError && error.cause !== undefined;
}

/** The message for a failed request; undefined if it is a bug. */
export function toToolError(error: unknown, baseUrl: string): ToolError | undefined {
  if (error instanceof WaygateError) {
    const { code, message, details, request_id, retryAfterSeconds } = error;
    return { success: false, code, message, details, request_id, retry_after_seconds: retryAfterSeconds };
  }
  const { origin } = new URL(baseUrl);
  if (isConnectionLost(error)) {
    const { code = "connection lost" } = error.cause as { code?: string };
    const message = `The gateway at ${origin} cannot be reached (${code}). Is it running, and is WAYGATE_BASE_URL right?`;
    return { success: false, code: "GATEWAY_UNREACHABLE", message };
  }
  if (error instanceof Error && /^(Timeout|Abort)Error$/.test(error.name)) {
    return {
      success: false,
      code: "GATEWAY_TIMEOUT",
      message: `The gateway at ${origin} did not respond. Check WAYGATE_BASE_URL and that it runs.`,
    };
  }
  return undefined;
}
