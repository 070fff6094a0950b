import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { isSessionEnded } from "./reauthentication.ts";

/** What the panel says of a failed request. */
export interface Fault {
  /** The words of the gateway; undefined: the panel has its own. */
  message: string | undefined;
  /** The panel's own words, in `connection`. */
  text: "unreachable" | "offlineRefused" | "notConnected" | "sessionEnded" | undefined;
  requestId: string | undefined;
  /** Further data of the error. */
  details: Readonly<Record<string, unknown>> | undefined;
}

/** The gateway's own words where it gives some, since they name what is wrong and what to do. */
export function toRequestError(error: unknown): Fault {
  if (error instanceof OfflineError) return connectionError("offlineRefused");
  if (!(error instanceof WaygateError)) return connectionError("unreachable");
  if (error.code === "INSTANCE_NOT_CONNECTED")
    return { ...connectionError("notConnected"), requestId: error.request_id };
  if (isSessionEnded(error)) return connectionError("sessionEnded");
  const { message, request_id: requestId, details } = error;
  return { message, text: undefined, requestId, details };
}

function connectionError(text: Fault["text"]): Fault {
  return { message: undefined, text, requestId: undefined, details: undefined };
}

/** A request that changes something was begun without a network, so it has not left the browser. */
export class OfflineError extends Error {
  override readonly name = "OfflineError";
}

/**
 * The same `fetch`, which throws OfflineError for a change without a network. It tries first: a gateway on the same
 * machine is reached without one.
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
