import { WaygateError } from "../../../packages/client/src/waygate-error.ts";

/** What the panel says of a failed request. */
export interface Fault {
  /** undefined: the gateway could not be reached. */
  message: string | undefined;
  requestId: string | undefined;
  /** Messages by field of the request. */
  fields: Record<string, string>;
}

/** The gateway's own words, since they name what is wrong and what to do. */
export function toFault(error: unknown): Fault {
  if (!(error instanceof WaygateError)) return { message: undefined, requestId: undefined, fields: {} };
  return { message: error.message, requestId: error.request_id, fields: readFields(error.details) };
}

function readFields(details: Record<string, unknown> | undefined): Record<string, string> {
  const fields = Array.isArray(details?.fields) ? (details.fields as { field: string; issue: string }[]) : [];
  return Object.fromEntries(fields.map(({ field, issue }) => [field, issue]));
}
