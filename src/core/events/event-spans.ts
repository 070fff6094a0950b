import type { TraceParent } from "../../platform/tracing/trace-parent.ts";
import {
  errorTypeOf,
  failSpan,
  type Span,
  SpanKind,
  startSpan,
  traceParentOf,
  tracingMode,
} from "../../platform/tracing/tracing.ts";

interface TracedEvent {
  event: string;
  event_id: string;
  instance_id: number;
  /** Before the recording the span that caused the event, then the event's own. */
  trace: TraceParent | undefined;
}

/** `trace`: the span that caused the event. */
export function causedBy<Draft extends { trace?: TraceParent | undefined }>(
  draft: Draft,
  trace: TraceParent | undefined,
): Draft {
  return trace === undefined ? draft : { ...draft, trace };
}

/** Runs the statement that records these events, each in a span that its deliveries continue. */
export async function inEventSpans<Event extends TracedEvent, T>(
  events: Event[],
  record: (events: Event[]) => Promise<T>,
): Promise<T> {
  if (tracingMode() === "off") return record(events);
  const spans = events.map(startEventSpan);
  try {
    return await record(events.map((event, nth) => ({ ...event, trace: traceParentOf(spans[nth]) })));
  } catch (error) {
    for (const span of spans) failSpan(span, errorTypeOf(error));
    throw error;
  } finally {
    for (const span of spans) span?.end();
  }
}

function startEventSpan({ event, event_id, instance_id, trace: parent }: TracedEvent): Span | undefined {
  return startSpan(`record ${event}`, {
    kind: SpanKind.PRODUCER,
    parent,
    attributes: {
      "waygate.event.name": event,
      "waygate.event.id": event_id,
      "waygate.instance.id": instance_id,
    },
  });
}
