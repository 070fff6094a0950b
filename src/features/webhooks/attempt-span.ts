import type { TraceParent } from "../../platform/tracing/trace-parent.ts";
import { failSpan, inSpan, type NewSpan, SpanKind, traceParentOf } from "../../platform/tracing/tracing.ts";
import { isSuccess } from "./decide-attempt.ts";
import type { DeliveryOutcome, WebhookDelivery } from "./deliver-webhook.ts";

/**
 * Makes one attempt in a span, whose position is the `traceparent` of the request. The receiver's address is no
 * attribute: it can name a person or contain a secret.
 */
export function inAttemptSpan(
  delivery: Pick<WebhookDelivery, "event" | "webhook" | "attempt">,
  parent: TraceParent | undefined,
  post: (trace: TraceParent | undefined) => Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  return inSpan(
    "deliver webhook",
    () => ({ ...spanOf(delivery), parent }),
    async (span) => {
      const outcome = await post(traceParentOf(span));
      if (outcome.outcome === "response") span?.setAttribute("http.response.status_code", outcome.status);
      if (!isSuccess(outcome))
        failSpan(span, outcome.outcome === "response" ? String(outcome.status) : outcome.failure);
      return outcome;
    },
  );
}

function spanOf({
  event: { event, event_id, instance_id },
  webhook,
  attempt,
}: Pick<WebhookDelivery, "event" | "webhook" | "attempt">): NewSpan {
  return {
    kind: SpanKind.CLIENT,
    attributes: {
      "http.request.method": "POST",
      ...(attempt > 1 && { "http.request.resend_count": attempt - 1 }),
      "waygate.event.name": event,
      "waygate.event.id": event_id,
      "waygate.instance.id": instance_id,
      "waygate.webhook.id": webhook.id,
    },
  };
}
