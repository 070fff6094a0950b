import { isSpanContextValid, type SpanContext } from "@opentelemetry/api";

/** A position in a trace, in the format of the header `traceparent` of W3C Trace Context: 55 characters. */
export type TraceParent = string;

const VERSION_00 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const LENGTH = 55;

/**
 * Reads a `traceparent`, which anybody may have written; undefined if it is not valid. Of a version after 00, which
 * may be longer, it reads the part that every version has.
 */
export function readTraceParent(header: unknown): SpanContext | undefined {
  if (typeof header !== "string" || header.length < LENGTH || header.length > 2 * LENGTH) return undefined;
  const [, traceId, spanId, flags] = VERSION_00.exec(firstVersionOf(header)) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? context : undefined;
}

function firstVersionOf(header: string): string {
  const isLater = /^(?!00|ff)[0-9a-f]{2}-/.test(header) && (header[LENGTH] ?? "-") === "-";
  return isLater ? `00${header.slice(2, LENGTH)}` : header;
}

/** Undefined for the context of a span that no SDK has made. */
export function toTraceParent(context: SpanContext): TraceParent | undefined {
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags } = context;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}
