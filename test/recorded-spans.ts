import { SpanKind, trace } from "@opentelemetry/api";
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { waitUntil } from "./gateway.ts";

/** The SDK of this process, which keeps every span that has ended. */
export interface RecordedSpans {
  /** All that have ended since the last `clear`. */
  all(): ReadableSpan[];
  /** Those of a trace, once `isWhole` holds for them, in the order of their starts. */
  of(traceId: string, isWhole: (names: string[]) => boolean): Promise<ReadableSpan[]>;
  /** Every text and number of every span: names, attributes, events, links and states. */
  texts(): string;
  /** Decides about spans from now on, as a sampler of the operator does. */
  sample(sampler: Sampler): void;
  clear(): void;
}

/** Loads an SDK into this process; the tests of the file must be `*.isolated.test.ts`. */
export function recordSpans(): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  let current: Sampler = new AlwaysOnSampler();
  const sampler: Sampler = {
    shouldSample: (...about) => current.shouldSample(...about),
    toString: () => "the sampler of the test",
  };
  const provider = new BasicTracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor(exporter)] });
  if (!trace.setGlobalTracerProvider(provider)) throw new Error("this process has an SDK already");
  const all = () => exporter.getFinishedSpans();
  const ofTrace = (traceId: string) =>
    all()
      .filter((span) => span.spanContext().traceId === traceId)
      .toSorted((one, other) => toNumber(one.startTime) - toNumber(other.startTime));
  return {
    all,
    async of(traceId, isWhole) {
      await waitUntil(() => isWhole(ofTrace(traceId).map(({ name }) => name)));
      return ofTrace(traceId);
    },
    texts: () =>
      JSON.stringify(
        all().map(({ name, attributes, events, links, status }) => ({
          name,
          attributes,
          events,
          links,
          status,
        })),
      ),
    sample(next) {
      current = next;
    },
    clear: () => exporter.reset(),
  };
}

function toNumber([seconds, nanoseconds]: [number, number]): number {
  return seconds * 1e9 + nanoseconds;
}

/** A tree of spans as indented lines, each with its kind and, if it failed, the type of its error. */
export function drawTrace(spans: readonly ReadableSpan[], parent?: string): string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const isChild = (span: ReadableSpan) => {
    const above = span.parentSpanContext?.spanId;
    return parent === undefined ? above === undefined || !ids.has(above) : above === parent;
  };
  return spans.filter(isChild).flatMap((span) => {
    const failure = span.attributes["error.type"];
    const own = `${SpanKind[span.kind].toLowerCase()} ${span.name}${failure ? `: ${failure}` : ""}`;
    return [own, ...drawTrace(spans, span.spanContext().spanId).map((line) => `  ${line}`)];
  });
}
