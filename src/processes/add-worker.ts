import type { Engine } from "../engine/engine.ts";
import { deleteOrphanedJobs } from "../engine/job-store.ts";
import { registerRecurringJobs } from "../engine/recurring-jobs.ts";
import { endTrials } from "../core/accounts/end-trials.ts";
import { finishAccountRemovals } from "../core/accounts/finish-account-removals.ts";
import { countSentMessages } from "../extensions/admin/count-sent-messages.ts";
import { appendAuditChain } from "../core/audit/append-audit-chain.ts";
import { backupLane, recurringBackupJobs } from "../extensions/backups/backup-lane.ts";
import type { BackupDeps } from "../extensions/backups/run-backup.ts";
import { campaignLane } from "../extensions/campaigns/campaign-lane.ts";
import type { ClientVersionUpdater } from "../core/client-version/client-version-updater.ts";
import type { SuppressionList } from "../extensions/consent/consent.ts";
import type { Conversations } from "../core/contacts/contacts.ts";
import { moveLeftoverMessages } from "../core/contacts/move-messages.ts";
import { addPhonesToLeads } from "../extensions/crm/add-phones-to-leads.ts";
import type { NodeIntegrations } from "../extensions/integrations/node-integrations.ts";
import type { NodeMedia } from "../core/media/open-media.ts";
import { deleteOldActions } from "../core/messages/actions/action-runner.ts";
import { failOverdueSends } from "../core/messages/send/outcome/fail-overdue-sends.ts";
import { stuckSendsJob } from "../core/messages/send/outcome/fail-stuck-sends.ts";
import { deleteOrphanedOutgoing } from "../core/messages/send/outgoing-file.ts";
import { deleteExpiredKeys } from "../core/messages/send/prepare/idempotency-key.ts";
import type { OutcomeRecorder } from "../core/messages/send/record-outcome.ts";
import { deleteExpiredGrants } from "../extensions/oauth/delete-expired-grants.ts";
import { failInterruptedExports } from "../extensions/privacy/export-account.ts";
import { followErasures, privacyLane } from "../extensions/privacy/privacy-lane.ts";
import { repeatErasure } from "../extensions/privacy/request-erasure.ts";
import { retentionJobs } from "../core/retention/retention-jobs.ts";
import { markSeenInstances } from "../core/sessions/mark-seen-instances.ts";
import { createAttemptCounter } from "../core/webhooks/create-attempt-counter.ts";
import type { DeliveryDispatcher } from "../core/webhooks/delivery-dispatcher.ts";
import { disableFailingWebhooks } from "../core/webhooks/disable-webhook.ts";
import { finishWebhookRemovals } from "../core/webhooks/remove-webhook.ts";
import { webhookLane } from "../core/webhooks/webhook-lane.ts";
import { createSandboxControl } from "../network/sandbox/sandbox-control.ts";
import type { Config } from "../platform/config/config.ts";
import type { Database, Db } from "../platform/db/database.ts";
import { ensurePartitions } from "../platform/db/partitions.ts";
import { deleteExpiredResponses } from "../platform/http/run-idempotently.ts";
import type { Log } from "../platform/log/log.ts";
import type { Metrics } from "../platform/log/metrics.ts";
import type { SafeFetch } from "../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../platform/secrets/secret-box.ts";
import type { SessionHost } from "./session-host.ts";

export interface WorkerOptions {
  config: Config;
  db: Db;
  engine: Engine;
  box: SecretBox;
  outgoing: SafeFetch;
  deliveries: DeliveryDispatcher;
  outcomes: OutcomeRecorder;
  conversations: Conversations;
  suppression: SuppressionList;
  sessions: SessionHost;
  integrations: NodeIntegrations;
  backups: BackupDeps;
  clientVersion: ClientVersionUpdater;
  media: NodeMedia;
  sandbox: Database;
  version: string;
  log: Log;
  metrics: Metrics;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Starts the work of a node with the role `worker`: webhook deliveries and the cluster's maintenance jobs. */
export function addWorker(parts: WorkerOptions): void {
  const { config, db, engine, box, outgoing, outcomes, version, log } = parts;
  engine.register(parts.integrations.lane);
  engine.register(
    campaignLane({
      db,
      engine,
      conversations: parts.conversations,
      numbers: parts.sessions.numbers,
      suppression: parts.suppression,
    }),
  );
  engine.register(
    webhookLane({
      db,
      engine,
      deliveries: parts.deliveries,
      box,
      outgoing,
      baseUrl: config.baseUrl,
      scheduleMs: config.retryScheduleMs,
      timeoutMs: config.webhookTimeoutMs,
      version,
      log,
      countAttempt: createAttemptCounter(parts.metrics.registry),
    }),
  );
  engine.register(backupLane(parts.backups));
  addPrivacy(parts);
  registerRecurringJobs(engine, db, [
    ...recurringBackupJobs({
      ...parts.backups,
      engine,
      repeatErasure: (entry) => repeatErasure(db, engine, entry),
      quietHourMs: config.backupAt,
      sendHoldMs: config.sendHoldMs,
      failSend: (send, error) =>
        outcomes.record({ ...send, status: "failed", at: new Date(), error, job: null }),
    }),
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
      campaignRetentionMs: config.campaignRetentionMs,
      leadRetentionMs: config.leadRetentionMs,
      log,
    }),
    { name: "orphaned-media", everyMs: HOUR, run: () => deleteOrphanedOutgoing(db) },
    { name: "actions", everyMs: HOUR, run: () => deleteOldActions(db) },
    { name: "integrations", everyMs: HOUR, run: () => parts.integrations.tidy() },
    { name: "expired-assistants", everyMs: HOUR, run: () => deleteExpiredGrants(db) },
    { name: "lost-exports", everyMs: HOUR, run: () => failInterruptedExports(db) },
    { name: "seen-instances", everyMs: MINUTE, run: () => markSeenInstances(db) },
    { name: "trials", everyMs: MINUTE, run: () => endTrials(db) },
    { name: "message-tally", everyMs: MINUTE, run: () => countSentMessages(db) },
    { name: "audit-chain", everyMs: 5 * SECOND, run: () => appendAuditChain(db, box) },
    { name: "failing-webhooks", everyMs: MINUTE, run: () => disableFailingWebhooks({ db, engine }) },
    { name: "merged-conversations", everyMs: MINUTE, run: () => moveLeftoverMessages(db) },
    { name: "linked-leads", everyMs: MINUTE, run: () => addPhonesToLeads(db, parts.suppression) },
    {
      name: "removed-accounts",
      everyMs: 5 * SECOND,
      run: () => finishAccountRemovals({ db, engine, deleteOnSandbox: accountDataRemover(parts) }),
    },
    { name: "removed-webhooks", everyMs: MINUTE, run: () => finishWebhookRemovals(db) },
  ]);
}

function accountDataRemover({ sandbox }: WorkerOptions) {
  return (account_id: number) => createSandboxControl(sandbox.pool, account_id).deleteAccount();
}

function addPrivacy({ db, engine, sandbox, media, conversations, deliveries }: WorkerOptions): void {
  const sweepFiles = (): Promise<void> => media.sweep();
  engine.register(
    privacyLane({
      db,
      engine,
      sweepFiles,
      deleteOnNetwork: async (account_id, phones, messages) => {
        await createSandboxControl(sandbox.pool, account_id).deleteCopies(phones, messages);
      },
      deletePeopleOnNetwork: (account_id, person) => {
        const control = createSandboxControl(sandbox.pool, account_id);
        return person ? control.deletePerson(person) : control.deletePeople();
      },
    }),
  );
  const clearCaches = (): void => {
    conversations.clearCache();
    deliveries.clear();
  };
  followErasures(engine, { sweepFiles, clearCaches });
}

async function deleteOldIdempotencyKeys(db: Db): Promise<void> {
  await deleteExpiredKeys(db);
  await deleteExpiredResponses(db);
}
