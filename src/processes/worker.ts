import type { Engine } from "../engine/engine.ts";
import { dropOrphanedJobs } from "../engine/jobs.ts";
import { createSchedules } from "../engine/schedule.ts";
import { endTrials } from "../features/accounts/end-trials.ts";
import { tallyMessages } from "../features/admin/tally-messages.ts";
import { sealAudit } from "../features/audit/seal-audit.ts";
import { campaignLane } from "../features/campaigns/campaign-lane.ts";
import type { Suppression } from "../features/consent/consent.ts";
import type { Conversations } from "../features/contacts/contacts.ts";
import { moveStragglers } from "../features/contacts/move-messages.ts";
import { expireFiles } from "../features/media/retention.ts";
import { expireHeldSends } from "../features/messages/expire-held.ts";
import { dropOrphans } from "../features/messages/outgoing-media.ts";
import type { OutcomeRecorder } from "../features/messages/record-outcome.ts";
import { forgetOldActions } from "../features/messages/run-action.ts";
import { watchFailingWebhooks } from "../features/webhooks/disable-webhook.ts";
import { finishRemovals } from "../features/webhooks/remove-webhook.ts";
import { webhookLane } from "../features/webhooks/webhook-lane.ts";
import type { Config } from "../platform/config.ts";
import type { Db } from "../platform/db.ts";
import { dropPartitionsBefore, ensurePartitions } from "../platform/partitions.ts";
import type { SafeFetch } from "../platform/safe-fetch.ts";
import type { SecretBox } from "../platform/secret-box.ts";
import type { SessionHost } from "./sessions.ts";

export interface WorkerParts {
  config: Config;
  db: Db;
  engine: Engine;
  box: SecretBox;
  outgoing: SafeFetch;
  outcomes: OutcomeRecorder;
  conversations: Conversations;
  suppression: Suppression;
  sessions: SessionHost;
  version: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** What a node with the role `worker` does: deliveries to webhooks, and the upkeep that somebody must do. */
export function addWorker(parts: WorkerParts): void {
  const { config, db, engine, box, outgoing, outcomes, version } = parts;
  engine.register(campaignLane({ ...parts, numbers: parts.sessions.numbers }));
  engine.register(
    webhookLane({
      db,
      engine,
      box,
      outgoing,
      scheduleMs: config.retryScheduleMs,
      timeoutMs: config.webhookTimeoutMs,
      version,
    }),
  );
  createSchedules(engine, db, [
    { name: "expire-held-sends", everyMs: 5 * SECOND, run: () => expireHeldSends(db, outcomes) },
    { name: "partitions", everyMs: HOUR, run: () => ensurePartitions(db) },
    {
      name: "retention",
      everyMs: HOUR,
      run: () => dropPartitionsBefore(db, new Date(Date.now() - config.retentionMs)),
    },
    { name: "idempotency", everyMs: HOUR, run: () => forgetOldKeys(db) },
    { name: "orphaned-jobs", everyMs: HOUR, run: () => dropOrphanedJobs(db) },
    { name: "media-retention", everyMs: HOUR, run: () => expireFiles(db, config.mediaRetentionMs) },
    { name: "orphaned-media", everyMs: HOUR, run: () => dropOrphans(db) },
    { name: "actions", everyMs: HOUR, run: () => forgetOldActions(db) },
    { name: "trials", everyMs: MINUTE, run: () => endTrials(db) },
    { name: "message-tally", everyMs: MINUTE, run: () => tallyMessages(db) },
    { name: "audit-chain", everyMs: 5 * SECOND, run: () => sealAudit(db, box) },
    { name: "failing-webhooks", everyMs: MINUTE, run: () => watchFailingWebhooks(db, engine) },
    { name: "merged-conversations", everyMs: MINUTE, run: () => moveStragglers(db) },
    { name: "removed-webhooks", everyMs: MINUTE, run: () => finishRemovals(db) },
  ]);
}

async function forgetOldKeys(db: Db): Promise<void> {
  const before = new Date(Date.now() - 25 * HOUR);
  await db.deleteFrom("idempotency").where("created_at", "<", before).execute();
  await db.deleteFrom("account_idempotency").where("created_at", "<", before).execute();
}
