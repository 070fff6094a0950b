import { setTimeout as sleep } from "node:timers/promises";
import { WaygateError } from "../client/client.ts";
import { abortAfter } from "../platform/abort-after.ts";

/** Longer than the gateway's slowest response: a large file that it downloads and then sends. */
export const CALL_TIMEOUT_MS = 120_000;
/** Together long enough for a restart of the gateway. */
const PAUSES_MS = [250, 1_000, 3_000, 5_000];

/** Aborts with the host's request, or when the gateway takes too long. */
export function callSignal(signal: AbortSignal): AbortSignal {
  return abortAfter(CALL_TIMEOUT_MS, signal);
}

/** Retries while the gateway is unreachable over the network, if repeating the request is safe. */
export async function requestWithRetry<T>(
  send: () => Promise<T>,
  {
    baseUrl,
    isRepeatable,
    signal,
  }: { baseUrl: string | undefined; isRepeatable: boolean; signal: AbortSignal },
): Promise<T> {
  for (const pause of baseUrl !== undefined && isRepeatable ? PAUSES_MS : []) {
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
export function isConnectionLost(error: unknown): error is TypeError {
  return error instanceof TypeError && error.cause !== undefined;
}
