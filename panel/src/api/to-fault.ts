import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { OfflineError } from "./offline-error.ts";
import { isSessionEnded } from "./session-question.ts";

/** What the panel says of a failed request. */
export interface Fault {
  /** The words of the gateway; undefined: the panel has its own. */
  message: string | undefined;
  /** The panel's own words, in `connection`. */
  text: "unreachable" | "offlineRefused" | "notConnected" | "sessionEnded" | undefined;
  requestId: string | undefined;
  /** Messages by field of the request. */
  fields: Record<string, string>;
}

/** The gateway's own words where it gives some, since they name what is wrong and what to do. */
export function toFault(error: unknown): Fault {
  if (error instanceof OfflineError) return ownFault("offlineRefused");
  if (!(error instanceof WaygateError)) return ownFault("unreachable");
  if (error.code === "INSTANCE_NOT_CONNECTED")
    return { ...ownFault("notConnected"), requestId: error.request_id };
  if (isSessionEnded(error)) return ownFault("sessionEnded");
  const { message, request_id: requestId, details } = error;
  return { message, text: undefined, requestId, fields: readFields(details) };
}

function ownFault(text: Fault["text"]): Fault {
  return { message: undefined, text, requestId: undefined, fields: {} };
}

function readFields(details: Record<string, unknown> | undefined): Record<string, string> {
  const fields = Array.isArray(details?.fields) ? (details.fields as { field: string; issue: string }[]) : [];
  return Object.fromEntries(fields.map(({ field, issue }) => [field, issue]));
}
