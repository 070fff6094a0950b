import { endTrials } from "../core/accounts/end-trials.ts";
import { finishAccountRemovals } from "../core/accounts/finish-account-removals.ts";
import { appendAuditChain } from "../core/audit/append-audit-chain.ts";
import type { ClientVersionUpdater } from "../core/client-version/client-version-updater.ts";
import { moveLeftoverMessages } from "../core/contacts/move-messages.ts";
import type { CoreHooks } from "../core/hooks.ts";
import { deleteOldActions } from "../core/messages/actions/action-runner.ts";
import { failOverdueSends } from "../core/messages/send/outcome/fail-overdue-sends.ts";
import { stuckSendsJob } from "../core/messages/send/outcome/fail-stuck-sends.ts";
import { deleteOrphanedOutgoing } from "../core/messages/send/outgoing-file.ts";
import { deleteExpiredKeys } from "../core/messages/send/prepare/idempotency-key.ts";
import type { OutcomeRecorder } from "../core/messages/send/record-outcome.ts";
import { countSentMessages } from "../core/plans/count-sent-messages.ts";
import { retentionJobs } from "../core/retention/retention-jobs.ts";
import { markSeenInstances } from "../core/sessions/connection/mark-seen-instances.ts";
import { createAttemptCounter } from "../core/webhooks/delivery/create-attempt-counter.ts";
import type { DeliveryDispatcher } from "../core/webhooks/delivery/delivery-dispatcher.ts";
import { disableFailingWebhooks } from "../core/webhooks/delivery/disable-webhook.ts";
import { webhookLane } from "../core/webhooks/delivery/webhook-lane.ts";
import type { Destinations } from "../core/webhooks/destinations/destination.ts";
import { finishWebhookRemovals } from "../core/webhooks/remove-webhook.ts";
import type { Engine } from "../engine/engine.ts";
import { deleteOrphanedJobs } from "../engine/job-store.ts";
import { registerRecurringJobs } from "../engine/recurring-jobs.ts";
import type { Config } from "../platform/config/config.ts";
import type { Db } from "../platform/db/database.ts";
import { ensurePartitions } from "../platform/db/partitions.ts";
import { deleteExpiredResponses } from "../platform/http/run-idempotently.ts";
import type { Log } from "../platform/log/log.ts";
import type { Metrics } from "../platform/log/metrics.ts";
import type { SecretBox } from "../platform/secrets/secret-box.ts";
import type { OpenedExtensions } from "./open-extensions.ts";

export interface WorkerOptions {
  config: Config;
  db: Db;
  engine: Engine;
  box: SecretBox;
  deliveries: DeliveryDispatcher;
  outcomes: OutcomeRecorder;
  extensions: Pick<OpenedExtensions, "lanes" | "recurringJobs">;
  clientVersion: ClientVersionUpdater;
  version: string;
  hooks: CoreHooks;
  destinations: Destinations;
  log: Log;
  metrics: Metrics;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Starts the work of a node with the role `worker`: webhook deliveries and the cluster's maintenance jobs. */
export function addWorker(parts: WorkerOptions): void {
  const { config, db, engine, box, outcomes, version, log } = parts;
  for (const lane of parts.extensions.lanes) engine.register(lane);
  engine.register(
    webhookLane({
      db,
      engine,
      deliveries: parts.deliveries,
      box,
      destinations: parts.destinations,
      formats: parts.hooks.webhookFormats,
      baseUrl: config.baseUrl,
      scheduleMs: config.retryScheduleMs,
      timeoutMs: config.webhookTimeoutMs,
      version,
      log,
      countAttempt: createAttemptCounter(parts.metrics.registry),
    }),
  );
  registerRecurringJobs(engine, db, [
    ...parts.extensions.recurringJobs,
    parts.clientVersion.recurringJob,
    stuckSendsJob(db, outcomes),
    {
      name: "expire-held-sends",
      everyMs: 5 * SECOND,
      run: () => failOverdueSends(db, outcomes, config.sendHoldMs),
    },
    { name: "partitions", everyMs: HOUR, run: () => ensurePartitions(db) },
    { name: "idempotency", everyMs: HOUR, run: () => deleteOldIdempotencyKeys(db) },
    { name: "orphaned-jobs", everyMs: HOUR, run: () => deleteOrphanedJobs(db) },
    ...retentionJobs(db, {
      retentionMs: config.retentionMs,
      retryScheduleMs: config.retryScheduleMs,
      mediaRetentionMs: config.mediaRetentionMs,
      messageRetentionMs: config.messageRetentionMs,
      rules: parts.hooks.retention,
      log,
    }),
    { name: "orphaned-media", everyMs: HOUR, run: () => deleteOrphanedOutgoing(db) },
    { name: "actions", everyMs: HOUR, run: () => deleteOldActions(db) },
    { name: "seen-instances", everyMs: MINUTE, run: () => markSeenInstances(db) },
    { name: "trials", everyMs: MINUTE, run: () => endTrials(db) },
    { name: "message-tally", everyMs: MINUTE, run: () => countSentMessages(db) },
    { name: "audit-chain", everyMs: 5 * SECOND, run: () => appendAuditChain(db, box) },
    { name: "failing-webhooks", everyMs: MINUTE, run: () => disableFailingWebhooks({ db, engine }) },
    { name: "merged-conversations", everyMs: MINUTE, run: () => moveLeftoverMessages(db) },
    {
      name: "removed-accounts",
      everyMs: 5 * SECOND,
      run: () =>
        finishAccountRemovals({
          db,
          engine,
          deleteOnNetwork: async (id) => parts.hooks.networkData?.(id).deleteAccount(),
        }),
    },
    { name: "removed-webhooks", everyMs: MINUTE, run: () => finishWebhookRemovals(db) },
  ]);
}

async function deleteOldIdempotencyKeys(db: Db): Promise<void> {
  await deleteExpiredKeys(db);
  await deleteExpiredResponses(db);
}
