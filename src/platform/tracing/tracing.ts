import {
  type Attributes,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { GatewayError } from "../gateway-error.ts";
import { withTimeout } from "../limits/with-timeout.ts";
import { readTraceParent, type TraceParent, toTraceParent } from "./trace-parent.ts";

export { type Attributes, type Span, SpanKind };

/** `continue`: a request continues the trace of its caller; `restart`: it begins one that is linked to it. */
export type TracingMode = "off" | "restart" | "continue";

const NAME = "waygate";
const FLUSH_AT_MOST_MS = 2_000;

let tracer: Tracer | undefined;
let current: TracingMode = "off";

/**
 * Sets the mode of this process, whose SDK is global too. Returns the mode in effect: `off` if no SDK is loaded.
 */
export function setTracing(mode: TracingMode, version: string): TracingMode {
  current = mode !== "off" && hasSdk() ? mode : "off";
  tracer = current === "off" ? undefined : trace.getTracer(NAME, version);
  return current;
}

export function tracingMode(): TracingMode {
  return current;
}

/** Without an SDK, the API has a provider that delegates to nothing. */
function hasSdk(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(NAME) !== undefined;
}

/** What providers have beyond the API. */
type SdkProvider = TracerProvider & { getDelegate?(): TracerProvider; forceFlush?(): Promise<void> };

/** Exports the ended spans that the SDK still holds, within two seconds; a failure is the SDK's to report. */
export async function flushSpans(): Promise<void> {
  if (!tracer) return;
  const provider: SdkProvider = trace.getTracerProvider();
  const sdk: SdkProvider = provider.getDelegate?.() ?? provider;
  const flushed = sdk.forceFlush?.().catch(() => {});
  if (flushed) await withTimeout(flushed, FLUSH_AT_MOST_MS);
}

export interface NewSpan extends Pick<SpanOptions, "kind" | "startTime" | "links"> {
  /** A span of the gateway, perhaps of another node or of an earlier run. Without a parent, a trace begins. */
  parent?: TraceParent | undefined;
  /** The span of a caller, which samplers treat differently from a span of the gateway. */
  caller?: SpanContext | undefined;
  /** Only ids of the gateway, names and states: nothing that a person wrote, and no address of a person. */
  attributes?: Attributes;
}

/** Undefined while tracing is off. The SDK's sampler decides whether the span is recorded. */
export function startSpan(name: string, { parent, caller, ...options }: NewSpan): Span | undefined {
  if (!tracer) return undefined;
  const own = readTraceParent(parent);
  const context = own ? { ...own, isRemote: false } : caller;
  return tracer.startSpan(
    name,
    options,
    context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT,
  );
}

/** The position of a span, for its children in any process. */
export function traceParentOf(span: Span | undefined): TraceParent | undefined {
  return span && toTraceParent(span.spanContext());
}

/** Runs work in a span that ends with it. `run` gets no span while tracing is off. */
export async function inSpan<T>(
  name: string,
  options: () => NewSpan,
  run: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const span = tracer && startSpan(name, options());
  if (!span) return run(undefined);
  try {
    return await run(span);
  } catch (error) {
    failSpan(span, errorTypeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed; `type` is one of a few words, never the text of an error. */
export function failSpan(span: Span | undefined, type: string): void {
  span?.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR });
}

/** An error's text may repeat what a person wrote, so only its code is shown. */
export function errorTypeOf(error: unknown): string {
  return error instanceof GatewayError ? error.code : "INTERNAL";
}
