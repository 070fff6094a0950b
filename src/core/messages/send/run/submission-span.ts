import type { SendResult } from "../../../../network/driver.ts";
import type { TraceParent } from "../../../../platform/tracing/trace-parent.ts";
import {
  errorTypeOf,
  failSpan,
  type Span,
  SpanKind,
  startSpan,
} from "../../../../platform/tracing/tracing.ts";
import type { SendContext } from "./send-context.ts";

/** The span that a send belongs to, as its job stores it. */
export function traceOf({ job }: Pick<SendContext, "job">): TraceParent | undefined {
  return (job.ref as { trace?: TraceParent }).trace;
}

/** The span of one attempt: from the network's side of the gateway to the response of the network. */
export function startSubmissionSpan(context: SendContext): Span | undefined {
  const { network, instance_id, message_id } = context.send;
  return startSpan("submit send", {
    kind: SpanKind.CLIENT,
    parent: traceOf(context),
    attributes: {
      "messaging.system": network,
      "messaging.operation.type": "send",
      "messaging.message.id": message_id,
      "waygate.instance.id": instance_id,
    },
  });
}

/** Ends the span with the response; undefined: the network has not responded in time. */
export async function endWith<Response extends SendResult | undefined>(
  span: Span,
  response: Promise<Response>,
): Promise<Response> {
  try {
    const result = await response;
    span.setAttribute("waygate.send.outcome", result?.outcome ?? "unknown");
    if (result?.outcome !== "accepted") failSpan(span, failureOf(result));
    return result;
  } catch (error) {
    failSpan(span, errorTypeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

function failureOf(result: SendResult | undefined): string {
  if (result === undefined) return "SEND_TIMEOUT";
  return result.outcome === "refused" ? result.code : result.outcome.toUpperCase();
}
