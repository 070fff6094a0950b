import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { createTestLimit } from "../../platform/http/test-limit.ts";
import { maskUrl } from "../../platform/outgoing/mask-url.ts";
import { ulid } from "../../platform/ulid.ts";
import { getEvent, recordEvents } from "../events/events.ts";
import { type DeliverWebhookOptions, deliverWebhook } from "./deliver-webhook.ts";
import { failureAdvice } from "./failure-advice.ts";
import { describeAttempt } from "./to-attempt-record.ts";
import { openUrl, type WebhookRow } from "./webhook-record.ts";
import { testEvent } from "./webhook-report-events.ts";

export interface WebhookTestDeps extends DeliverWebhookOptions {
  db: Db;
}

/** Sends one real, signed delivery, whatever the filter. Throws SEND_FAILED if the receiver rejects it. */
export function createWebhookTest(deps: WebhookTestDeps) {
  const allow = createTestLimit("A webhook");

  return async (row: WebhookRow, instanceId: number) => {
    allow(row.id);
    const webhook = { ...row, url: openUrl(row, deps.box) };
    const event = await recordTestEvent(deps.db, webhook, instanceId);
    const described = describeAttempt(
      await deliverWebhook(deps, { event, webhook, isGlobal: false, body: event.body, attempt: 1 }),
    );
    const log = await deps.db
      .insertInto("attempt")
      .values({
        event_id: event.event_id,
        event_at: event.created_at,
        event: event.event,
        webhook_id: webhook.id,
        webhook_name: webhook.name,
        account_id: event.account_id,
        instance_id: event.instance_id,
        url: maskUrl(webhook.url),
        attempt: 1,
        trigger: "test",
        ...described,
        request_headers: described.request_headers && JSON.stringify(described.request_headers),
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    const { success, status_code, duration_ms, error } = described;
    const result = { success, status_code, duration_ms, error, event_id: event.event_id, log_id: log.id };
    if (success) return result;
    const message = `The test event was not delivered. ${error} ${failureAdvice(described)}`;
    throw new GatewayError("SEND_FAILED", message, { details: result });
  };
}

async function recordTestEvent(db: Db, webhook: WebhookRow, instanceId: number) {
  const event_id = `evt_${ulid()}`;
  await db.transaction().execute((trx) => recordEvents(trx, [testEvent(instanceId, webhook, event_id)]));
  return getEvent(db, instanceId, event_id);
}
