import type { Engine } from "../engine/engine.ts";
import { deleteOrphanedJobs } from "../engine/job-store.ts";
import { createSchedules } from "../engine/schedule.ts";
import { endTrials } from "../features/accounts/end-trials.ts";
import { finishAccountRemovals } from "../features/accounts/finish-account-removals.ts";
import { countSentMessages } from "../features/admin/count-sent-messages.ts";
import { appendAuditChain } from "../features/audit/append-audit-chain.ts";
import { backupLane, backupSchedules } from "../features/backups/backup-lane.ts";
import type { BackupDeps } from "../features/backups/run-backup.ts";
import { campaignLane } from "../features/campaigns/campaign-lane.ts";
import { EXPIRING_CAMPAIGNS } from "../features/campaigns/expire-campaigns.ts";
import type { ClientVersionUpdater } from "../features/client-version/client-version-updater.ts";
import type { SuppressionList } from "../features/consent/consent.ts";
import type { Conversations } from "../features/contacts/contacts.ts";
import { moveLeftoverMessages } from "../features/contacts/move-messages.ts";
import { EXPIRING_LEADS } from "../features/crm/expire-leads.ts";
import { linkLeads } from "../features/crm/link-leads.ts";
import { EXPIRING_LOGS } from "../features/instance-logs/expire-logs.ts";
import { deleteExpiredResponses } from "../features/instances/run-idempotently.ts";
import type { NodeIntegrations } from "../features/integrations/node-integrations.ts";
import { expireFiles } from "../features/media/expire-files.ts";
import type { NodeMedia } from "../features/media/open-media.ts";
import { deleteOldActions } from "../features/messages/actions/action-runner.ts";
import { EXPIRING_MESSAGES } from "../features/messages/log/expire-messages.ts";
import { expireWaitingSends } from "../features/messages/send/outcome/expire-waiting-sends.ts";
import { strandedSendsSchedule } from "../features/messages/send/outcome/fail-stranded-sends.ts";
import { deleteOrphanedOutgoing } from "../features/messages/send/outgoing-file.ts";
import { deleteExpiredKeys } from "../features/messages/send/prepare/idempotency-key.ts";
import type { OutcomeRecorder } from "../features/messages/send/record-outcome.ts";
import { failInterruptedExports } from "../features/privacy/export-account.ts";
import { followErasures, privacyLane } from "../features/privacy/privacy-lane.ts";
import { repeatErasure } from "../features/privacy/request-erasure.ts";
import { type Expiring, expireRows } from "../features/retention/retention.ts";
import { markSeenInstances } from "../features/sessions/mark-seen-instances.ts";
import { disableFailingWebhooks } from "../features/webhooks/disable-webhook.ts";
import { dropExpiredPartitions } from "../features/webhooks/drop-expired-partitions.ts";
import { EXPIRING_EVENTS } from "../features/webhooks/expire-events.ts";
import { finishWebhookRemovals } from "../features/webhooks/hide-webhook.ts";
import { webhookLane } from "../features/webhooks/webhook-lane.ts";
import { createSandboxControl } from "../network/sandbox/sandbox-control.ts";
import type { Config } from "../platform/config/config.ts";
import type { Database, Db } from "../platform/db/database.ts";
import { ensurePartitions } from "../platform/db/partitions.ts";
import type { Log } from "../platform/log/log.ts";
import type { SafeFetch } from "../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../platform/secrets/secret-box.ts";
import type { SessionHost } from "./session-host.ts";

export interface WorkerOptions {
  config: Config;
  db: Db;
  engine: Engine;
  box: SecretBox;
  outgoing: SafeFetch;
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
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Starts the work of a node with the role `worker`: webhook deliveries and the cluster's maintenance jobs. */
export function addWorker(parts: WorkerOptions): void {
  const { config, db, engine, box, outgoing, outcomes, version, log } = parts;
  const { retentionMs, retryScheduleMs } = config;
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
      box,
      outgoing,
      baseUrl: config.baseUrl,
      scheduleMs: retryScheduleMs,
      timeoutMs: config.webhookTimeoutMs,
      version,
      log,
    }),
  );
  engine.register(backupLane(parts.backups));
  addPrivacy(parts);
  createSchedules(engine, db, [
    ...backupSchedules({
      ...parts.backups,
      engine,
      repeatErasure: (entry) => repeatErasure(db, engine, entry),
      quietHourMs: config.backupAt,
      sendHoldMs: config.sendHoldMs,
      failSend: (id, error) => outcomes.record({ id, status: "failed", at: new Date(), error, job: null }),
    }),
    parts.clientVersion.schedule,
    strandedSendsSchedule(db, outcomes),
    {
      name: "expire-held-sends",
      everyMs: 5 * SECOND,
      run: () => expireWaitingSends(db, outcomes, config.sendHoldMs),
    },
    { name: "partitions", everyMs: HOUR, run: () => ensurePartitions(db) },
    {
      name: "retention",
      everyMs: HOUR,
      run: () => dropExpiredPartitions(db, { retentionMs, retryScheduleMs, log }),
    },
    { name: "idempotency", everyMs: HOUR, run: () => forgetIdempotency(db) },
    { name: "orphaned-jobs", everyMs: HOUR, run: () => deleteOrphanedJobs(db) },
    { name: "media-retention", everyMs: HOUR, run: () => expireFiles(db, config.mediaRetentionMs) },
    ...retentionSchedules(db, config),
    { name: "orphaned-media", everyMs: HOUR, run: () => deleteOrphanedOutgoing(db) },
    { name: "actions", everyMs: HOUR, run: () => deleteOldActions(db) },
    { name: "integrations", everyMs: HOUR, run: () => parts.integrations.tidy() },
    { name: "lost-exports", everyMs: HOUR, run: () => failInterruptedExports(db) },
    { name: "seen-instances", everyMs: MINUTE, run: () => markSeenInstances(db) },
    { name: "trials", everyMs: MINUTE, run: () => endTrials(db) },
    { name: "message-tally", everyMs: MINUTE, run: () => countSentMessages(db) },
    { name: "audit-chain", everyMs: 5 * SECOND, run: () => appendAuditChain(db, box) },
    { name: "failing-webhooks", everyMs: MINUTE, run: () => disableFailingWebhooks(db, engine) },
    { name: "merged-conversations", everyMs: MINUTE, run: () => moveLeftoverMessages(db) },
    { name: "linked-leads", everyMs: MINUTE, run: () => linkLeads(db, parts.suppression) },
    {
      name: "removed-accounts",
      everyMs: 5 * SECOND,
      run: () => finishAccountRemovals({ db, engine, deleteOnSandbox: forgetAccountOf(parts) }),
    },
    { name: "removed-webhooks", everyMs: MINUTE, run: () => finishWebhookRemovals(db) },
  ]);
}

/** Events and logs have a retention of the gateway besides that of the account. */
function retentionSchedules(db: Db, config: Config) {
  const kinds: [Expiring, number?][] = [
    [EXPIRING_MESSAGES, config.messageRetentionMs],
    [EXPIRING_CAMPAIGNS, config.campaignRetentionMs],
    [EXPIRING_LEADS, config.leadRetentionMs],
    [EXPIRING_EVENTS],
    [EXPIRING_LOGS],
  ];
  return kinds.map(([expiring, defaultMs]) => ({
    name: `${expiring.kind}-retention`,
    everyMs: 10 * MINUTE,
    run: () => expireRows(db, expiring, defaultMs),
  }));
}

function forgetAccountOf({ sandbox }: WorkerOptions) {
  return (account_id: number) => createSandboxControl(sandbox.pool, account_id).deleteAccount();
}

function addPrivacy({ db, engine, sandbox, media, conversations }: WorkerOptions): void {
  const sweepFiles = (): Promise<void> => media.sweep();
  engine.register(
    privacyLane({
      db,
      engine,
      sweepFiles,
      deleteOnNetwork: async (account_id, phones, messages) => {
        await createSandboxControl(sandbox.pool, account_id).deleteCopies(phones, messages);
      },
    }),
  );
  followErasures(engine, { sweepFiles, clearCaches: () => conversations.clearCache() });
}

async function forgetIdempotency(db: Db): Promise<void> {
  await deleteExpiredKeys(db);
  await deleteExpiredResponses(db);
}
