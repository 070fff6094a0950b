import { readField } from "../read-field.ts";
import type { EventArrivals } from "./event-arrivals.ts";
import type { EventPrinter } from "./event-printer.ts";
import type { WebhookForwarder } from "./forward-webhook.ts";
import type { ListenerResponse, VerifiedWebhook } from "./webhook-listener.ts";

export interface WebhookResponder {
  arrivals: EventArrivals;
  printer: EventPrinter;
  /** Absent: every genuine webhook gets 204. */
  forwarder: WebhookForwarder | undefined;
}

/** Prints a genuine webhook, passes it on, and returns the response to the gateway. */
export async function respondToWebhook(
  { arrivals, printer, forwarder }: WebhookResponder,
  webhook: VerifiedWebhook,
): Promise<ListenerResponse> {
  const isFirst = arrivals.add(webhook.event);
  // The listener's own test of the way from the gateway to here.
  if (readField(webhook.event, "data", "test") === true) return { status: 204 };
  printer.event(webhook, isFirst);
  if (forwarder === undefined) return { status: 204 };
  const { response, note } = await forwarder.forward(webhook);
  printer.note(note);
  return response;
}
