import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { isSessionEnded } from "./reauthentication.ts";

export interface RequestError {
  /** The gateway's message; undefined if the panel has its own text. */
  message: string | undefined;
  /** Key of the panel's text in `connection`. */
  text: "unreachable" | "offlineRefused" | "notConnected" | "sessionEnded" | undefined;
  requestId: string | undefined;
  details: Readonly<Record<string, unknown>> | undefined;
}

/** Prefers the gateway's message, which says what is wrong and what to do. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof OfflineError) return connectionError("offlineRefused");
  if (!(error instanceof WaygateError)) return connectionError("unreachable");
  if (error.code === "INSTANCE_NOT_CONNECTED")
    return { ...connectionError("notConnected"), requestId: error.request_id };
  if (isSessionEnded(error)) return connectionError("sessionEnded");
  const { message, request_id: requestId, details } = error;
  return { message, text: undefined, requestId, details };
}

function connectionError(text: RequestError["text"]): RequestError {
  return { message: undefined, text, requestId: undefined, details: undefined };
}

/** A mutation was started without a network and never sent. */
export class OfflineError extends Error {
  override readonly name = "OfflineError";
}

/**
 * A `fetch` that throws OfflineError if a mutation fails while the browser is offline. It tries first, because a
 * gateway on the same machine is reachable.
 */
export function reportingOffline(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const isOffline = !navigator.onLine && (init?.method ?? "GET") !== "GET";
    try {
      return await send(input, init);
    } catch (error) {
      if (isOffline && error instanceof TypeError) throw new OfflineError("The browser is offline.");
      throw error;
    }
  };
}
