import { singleJobGroup } from "../../../engine/job-store.ts";
import type { Job } from "../../../engine/lanes/lane-kind.ts";
import { cleanText } from "../../../platform/text/clean-text.ts";
import { maskUrl } from "../../../platform/urls/mask-url.ts";
import { causedBy, type EventDraft } from "../../events/events.ts";
import type { DeliveryOutcome } from "../destinations/destination.ts";
import { describeFailure, isSuccess, statusOf } from "./attempt-failure.ts";
import type { AttemptRecord } from "./attempt-writer.ts";
import { type AttemptDecision, PARK_AFTER_FAILURES } from "./decide-attempt.ts";
import type { DeliveryRef, LoadedDelivery } from "./delivery-loader.ts";
import { deliveryReport } from "./webhook-report-events.ts";

/** A finished attempt and its result. */
export interface CompletedAttempt {
  job: Job;
  loaded: LoadedDelivery;
  outcome: DeliveryOutcome;
  /** Number of the attempt, from 1. */
  attempt: number;
  decision: AttemptDecision;
}

const SHOWN_RESPONSE_BYTES = 4096;

/** The record of an attempt. A failed manual attempt does not affect the automatic retries. */
export function toAttemptRecord(completed: CompletedAttempt): AttemptRecord {
  const { job, loaded, outcome, attempt, decision } = completed;
  const { event, webhook } = loaded;
  const { trigger } = job.ref as DeliveryRef;
  const retryAfterMs = trigger === "auto" && decision.decision === "retry" ? decision.delayMs : null;
  const isParked = retryAfterMs !== null && attempt >= PARK_AFTER_FAILURES && webhook.ordering === "chat";
  return {
    lane: job.lane,
    job_id: job.id,
    pos: job.pos,
    delivery_id: loaded.delivery.id,
    event_id: event.event_id,
    event: event.event,
    event_at: event.created_at,
    account_id: event.account_id,
    instance_id: event.instance_id,
    webhook_id: webhook.id,
    webhook_name: webhook.name,
    url: maskUrl(webhook.url),
    attempt,
    trigger,
    ...describeAttempt(outcome),
    status: statusAfter(decision, job.ref as DeliveryRef, isParked),
    retry_after_ms: retryAfterMs,
    parkedGroup: isParked ? singleJobGroup(job.id) : null,
    reports: loaded.isReported ? report(completed, retryAfterMs) : [],
  };
}

function statusAfter(
  { decision }: AttemptDecision,
  { trigger, alone }: DeliveryRef,
  isParked: boolean,
): AttemptRecord["status"] {
  if (decision === "delivered") return "delivered";
  if (trigger === "manual") return alone ? "failed" : null;
  if (decision === "failed") return "failed";
  return isParked ? "parked" : "retrying";
}

/** The columns of a log row that describe the attempt. */
export function describeAttempt(outcome: DeliveryOutcome) {
  const success = isSuccess(outcome);
  return {
    success,
    status_code: statusOf(outcome),
    error: success ? null : describeFailure(outcome),
    error_class: success ? null : outcome.outcome === "failed" ? outcome.failure : "status",
    duration_ms: Math.round(outcome.durationMs),
    response_body:
      outcome.outcome === "response"
        ? cleanText(outcome.body.subarray(0, SHOWN_RESPONSE_BYTES).toString("utf8"))
        : null,
    request_headers: (outcome.outcome === "response" && outcome.requestHeaders) || null,
  };
}

/** Deliveries of `webhook.*` events are not reported themselves. */
function report(
  { job, loaded, outcome, attempt }: CompletedAttempt,
  retryAfterMs: number | null,
): EventDraft[] {
  const { event, webhook } = loaded;
  if (event.event.startsWith("webhook.")) return [];
  const { success, status_code, error } = describeAttempt(outcome);
  const name = success ? "webhook.sent" : retryAfterMs === null ? "webhook.failed" : "webhook.retrying";
  const next_retry_at = retryAfterMs === null ? null : new Date(Date.now() + retryAfterMs).toISOString();
  const about = { event_id: event.event_id, event: event.event, attempt, status_code, error, next_retry_at };
  const { trace } = job.ref as DeliveryRef;
  return [causedBy(deliveryReport(name, event.instance_id, webhook, about), trace)];
}
