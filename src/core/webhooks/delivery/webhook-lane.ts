import type { Engine, Job, JobResult, LaneKind } from "../../../engine/engine.ts";
import { retryUntilCommitted } from "../../../engine/retry-until-committed.ts";
import type { Db } from "../../../platform/db/database.ts";
import type { DeliveryReason } from "../../../platform/delivery-reasons.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import type { Log } from "../../../platform/log/log.ts";
import { createRateLimitedWarnings } from "../../../platform/log/rate-limited-warnings.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import {
  failSpan,
  inSpan,
  type NewSpan,
  SpanKind,
  traceParentOf,
} from "../../../platform/tracing/tracing.ts";
import { type DeliveryOutcome, type Destinations, destinationOf } from "../destinations/destination.ts";
import { contentTypeOf, type EventFormats, formatEventBody } from "../event-formats.ts";
import { failureAdvice } from "../failure-advice.ts";
import { openToken } from "../webhook-record.ts";
import { failureOf, isSuccess, statusOf } from "./attempt-failure.ts";
import {
  type AttemptRecord,
  createAttemptWriter,
  isAttemptRecorded,
  type ReceiverChange,
  type RecordedAttempt,
} from "./attempt-writer.ts";
import { createCircuitBreakers } from "./circuit-breaker.ts";
import type { AttemptCounter } from "./create-attempt-counter.ts";
import { decideAttempt } from "./decide-attempt.ts";
import { type DeliverWebhookOptions, deliverWebhook, type WebhookDelivery } from "./deliver-webhook.ts";
import type { DeliveryDispatcher } from "./delivery-dispatcher.ts";
import { createDeliveryLoader, type DeliveryRef, type LoadedDelivery } from "./delivery-loader.ts";
import { disableWebhook } from "./disable-webhook.ts";
import { type CompletedAttempt, toAttemptRecord } from "./to-attempt-record.ts";

type ReceiverLogEntry = Pick<AttemptRecord, "webhook_id" | "instance_id" | "event_id" | "url"> & {
  name: string;
  status?: number | null;
  error?: string | null;
  recommended_action?: string;
};

const sourceOf = ({ webhook_id }: ReceiverLogEntry) => String(webhook_id);

export interface WebhookLaneOptions extends DeliverWebhookOptions {
  db: Db;
  engine: Engine;
  deliveries: Pick<DeliveryDispatcher, "take">;
  formats: EventFormats;
  /** URL of this gateway, which some formats contain. */
  baseUrl: string;
  scheduleMs: readonly number[];
  log: Pick<Log, "warn" | "info">;
  countAttempt?: AttemptCounter;
}

/** A webhook's deliveries: one at a time per chat, and four at a time once the receiver is healthy. */
export function webhookLane(options: WebhookLaneOptions): LaneKind {
  const { db, box, deliveries } = options;
  const loader = createDeliveryLoader(db, box);
  const record = createRecorder(options);
  const breakers = createCircuitBreakers();

  async function run(job: Job): Promise<JobResult> {
    const ref = job.ref as DeliveryRef;
    const loaded = deliveries.take(job, box) ?? (await loader.load(ref));
    if (!loaded) return discard(db, ref, "event_gone", "The event or the webhook is there no longer.");
    if (!loaded.webhook.is_active) return discard(db, ref, "webhook_inactive", "The webhook is not active.");
    const { format } = loaded.webhook;
    if (format !== "native" && !options.formats[format])
      return discard(db, ref, "no_such_format", `This gateway does not have the webhook format ${format}.`);
    const body = bodyOf(options, loaded);
    if (!body)
      return discard(db, ref, "not_in_format", "The event has no counterpart in the format of the webhook.");
    const beganAt = performance.now();
    faultPoint("delivery:before-connect");
    const completed = await attemptDelivery(options, job, loaded, body);
    faultPoint("delivery:after-response");
    return {
      end: "committed",
      deleted: await record(completed),
      isHealthy: isSuccess(completed.outcome),
      pauseLaneMs: breakers.pauseAfter(completed, beganAt),
    };
  }

  return {
    kind: "webhook",
    role: "worker",
    laneConcurrency: 4,
    prefetch: 16,
    slowStart: true,
    nodeConcurrency: 256,
    run,
    onLost: async (lane) => breakers.delete(lane),
  };
}

function bodyOf(
  { box, formats, baseUrl }: WebhookLaneOptions,
  { event, webhook }: LoadedDelivery,
): Buffer | undefined {
  const { url, format } = webhook;
  return formatEventBody(formats, event.body, format, { url, token: openToken(webhook, box), baseUrl });
}

async function attemptDelivery(
  options: WebhookLaneOptions,
  job: Job,
  loaded: LoadedDelivery,
  body: Buffer,
): Promise<CompletedAttempt> {
  const attempt = loaded.delivery.attempts + 1;
  const { format, retry_enabled, max_attempts } = loaded.webhook;
  const delivery = { ...loaded, body, contentType: contentTypeOf(options.formats, format), attempt };
  const span = () => spanOf(delivery, options.destinations, (job.ref as DeliveryRef).trace);
  const outcome = await inAttemptSpan(span, (trace) => deliverWebhook(options, { ...delivery, trace }));
  const maxAttempts = retry_enabled ? max_attempts : 1;
  const plan = { scheduleMs: options.scheduleMs, maxAttempts, retriesRejected: true };
  return { job, loaded, outcome, attempt, decision: decideAttempt(failureOf(outcome), attempt, plan) };
}

const RECORDED: RecordedAttempt = { isOwned: true, wake: [], change: null };

/** Records an attempt and all its effects; returns whether the job is deleted. */
function createRecorder({ db, engine, log, countAttempt }: WebhookLaneOptions) {
  const writer = createAttemptWriter(db, engine.node.id);
  const logChange = createReceiverLog(log);

  return async (completed: CompletedAttempt): Promise<boolean> => {
    const { job, loaded, decision } = completed;
    const record = toAttemptRecord(completed);
    const recorded = await retryUntilCommitted(engine, job.lane, async (isAgain) =>
      isAgain && (await isAttemptRecorded(db, record)) ? RECORDED : writer.write(record),
    );
    faultPoint("delivery:after-commit");
    if (recorded.isOwned) {
      engine.wake(recorded.wake);
      logChange(recorded.change, record);
      countAttempt?.(record);
    } else engine.markLaneLost(job.lane.id);
    // A success has ended the automatic retries, for which other deliveries of the chat may wait.
    const isManual = (job.ref as DeliveryRef).trigger === "manual";
    if (isManual && decision.decision === "delivered") engine.wake([job.lane.id], { changed: true });
    if (decision.decision === "failed" && decision.isGone) {
      const { webhook, event } = loaded;
      const gone = { reason: "status", params: { status: 410 } } as const;
      const why = { error: "The receiver responded with 410.", ...gone };
      await disableWebhook({ db, engine }, webhook.id, event.instance_id, why);
    }
    return recorded.isOwned && record.retry_after_ms === null;
  };
}

async function discard(
  db: Db,
  { delivery, at }: DeliveryRef,
  error_class: DeliveryReason,
  error: string,
): Promise<JobResult> {
  await db
    .updateTable("delivery")
    .set({ status: "discarded", error, error_class, next_retry_at: null })
    .where("id", "=", delivery)
    .where("created_at", "=", new Date(at))
    .where("status", "in", ["pending", "retrying", "parked"])
    .execute();
  return { end: "done" };
}

/** Logs when receivers begin to fail and recover, with a limit per minute. */
function createReceiverLog(log: Pick<Log, "warn" | "info">) {
  const warn = createRateLimitedWarnings<ReceiverLogEntry>({
    log,
    message: "a webhook has begun to fail",
    sourceOf,
  });
  const inform = createRateLimitedWarnings<ReceiverLogEntry>({
    log: { warn: log.info.bind(log) },
    message: "a webhook works again",
    sourceOf,
  });

  return (change: ReceiverChange | null, record: AttemptRecord): void => {
    const { webhook_id, webhook_name: name, instance_id, event_id, url, status_code, error } = record;
    const fields = { webhook_id, name, instance_id, event_id, url };
    if (change === "failing")
      warn({ ...fields, status: status_code, error, recommended_action: failureAdvice(record) });
    if (change === "recovered") inform(fields);
  };
}

/**
 * Makes one attempt in a span, whose position is the `traceparent` of the request. The receiver's address is no
 * attribute: it can name a person or contain a secret.
 */
function inAttemptSpan(
  span: () => NewSpan,
  send: (trace: TraceParent | undefined) => Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  return inSpan("deliver webhook", span, async (span) => {
    const outcome = await send(traceParentOf(span));
    if (outcome.outcome === "response") span?.setAttribute("http.response.status_code", outcome.status);
    if (!isSuccess(outcome))
      failSpan(span, outcome.outcome === "failed" ? outcome.failure : String(statusOf(outcome)));
    return outcome;
  });
}

function spanOf(
  { event: { event, event_id, instance_id }, webhook, attempt }: WebhookDelivery,
  destinations: Destinations,
  parent: TraceParent | undefined,
): NewSpan {
  return {
    kind: SpanKind.CLIENT,
    attributes: {
      ...destinationOf(destinations, webhook.url).spanAttributes,
      ...(attempt > 1 && { "http.request.resend_count": attempt - 1 }),
      "waygate.event.name": event,
      "waygate.event.id": event_id,
      "waygate.instance.id": instance_id,
      "waygate.webhook.id": webhook.id,
    },
    parent,
  };
}
