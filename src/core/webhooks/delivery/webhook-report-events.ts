import { maskUrl } from "../../../platform/urls/mask-url.ts";
import type { EventDraft } from "../../events/events.ts";
import type { WebhookRow } from "../webhook-record.ts";

/** The fields of every `webhook.*` event; null if they do not apply to a delivery. */
interface Report {
  event_id: string | null;
  event: string | null;
  attempt: number | null;
  status_code: number | null;
  error: string | null;
  next_retry_at: string | null;
}

const ABOUT_NO_DELIVERY: Report = {
  event_id: null,
  event: null,
  attempt: null,
  status_code: null,
  error: null,
  next_retry_at: null,
};

export type ReportedWebhook = Pick<WebhookRow, "id" | "url" | "retry_enabled" | "max_attempts">;

/** The event that reports an attempt. */
export function deliveryReport(
  event: "webhook.sent" | "webhook.retrying" | "webhook.failed",
  instance_id: number,
  webhook: ReportedWebhook,
  report: Report,
): EventDraft {
  return draft(event, instance_id, webhook, report);
}

/** The event that reports a completed or imminent change of a webhook. */
export function webhookNotice(
  instance_id: number,
  webhook: ReportedWebhook,
  reason: "endpoint_failing" | "endpoint_disabled",
  error: string,
): EventDraft {
  return draft("webhook.failed", instance_id, webhook, { ...ABOUT_NO_DELIVERY, error, reason });
}

/** The event of a test delivery. */
export function testEvent(instance_id: number, webhook: ReportedWebhook, event_id: string): EventDraft {
  const data = { ...ABOUT_NO_DELIVERY, event_id, event: "webhook.sent", attempt: 1, test: true as const };
  return { ...draft("webhook.sent", instance_id, webhook, data), event_id, isUndelivered: true };
}

function draft(
  event: EventDraft["event"],
  instance_id: number,
  { id, url, retry_enabled, max_attempts }: ReportedWebhook,
  { event_id, event: about, attempt, ...rest }: Report & { reason?: string; test?: true },
): EventDraft {
  const data = {
    webhook_id: id,
    event_id,
    event: about,
    url: maskUrl(url),
    attempt,
    max_attempts: retry_enabled ? max_attempts : 1,
    ...rest,
  };
  return { event, instance_id, chat: `webhook:${id}`, data };
}
