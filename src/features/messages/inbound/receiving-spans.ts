import type { NetworkMessage } from "../../../network/driver.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import {
  errorTypeOf,
  failSpan,
  type Span,
  SpanKind,
  startSpan,
  traceParentOf,
  tracingMode,
} from "../../../platform/tracing/tracing.ts";

/** Stores messages, each in a span that its event continues. Messages of a history sync cause no event and no span. */
export async function inReceivingSpans<T>(
  instanceId: number,
  messages: readonly NetworkMessage[],
  store: (traces: (TraceParent | undefined)[]) => Promise<T>,
): Promise<T> {
  if (tracingMode() === "off") return store([]);
  const spans = messages.map((message) => (message.history ? undefined : startReceivingSpan(instanceId)));
  try {
    return await store(spans.map(traceParentOf));
  } catch (error) {
    for (const span of spans) failSpan(span, errorTypeOf(error));
    throw error;
  } finally {
    for (const span of spans) span?.end();
  }
}

/** The message's id is no attribute: its sender chose it. */
function startReceivingSpan(instanceId: number): Span | undefined {
  return startSpan("receive message", {
    kind: SpanKind.CONSUMER,
    attributes: { "messaging.operation.type": "receive", "waygate.instance.id": instanceId },
  });
}
