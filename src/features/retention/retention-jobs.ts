import type { RecurringJob } from "../../engine/recurring-jobs.ts";
import type { Db } from "../../platform/db/database.ts";
import { CAMPAIGN_RETENTION } from "./campaign-retention.ts";
import { dropOldPartitions, type PartitionRetentionOptions } from "./drop-old-partitions.ts";
import { EVENT_RETENTION } from "./event-retention.ts";
import { applyFileRetention } from "./file-retention.ts";
import { LEAD_RETENTION } from "./lead-retention.ts";
import { LOG_RETENTION } from "./log-retention.ts";
import { MESSAGE_RETENTION } from "./message-retention.ts";
import { applyRetention, type RetentionRule } from "./retention.ts";

export interface RetentionJobOptions extends PartitionRetentionOptions {
  mediaRetentionMs: number;
  messageRetentionMs: number;
  campaignRetentionMs: number;
  leadRetentionMs: number;
}

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;

/** Everything that the gateway deletes because of its age, with the setting and the interval. */
export function retentionJobs(db: Db, options: RetentionJobOptions): RecurringJob[] {
  const { mediaRetentionMs, messageRetentionMs, campaignRetentionMs, leadRetentionMs } = options;
  return [
    { name: "retention", everyMs: HOUR_MS, run: () => dropOldPartitions(db, options) },
    { name: "media-retention", everyMs: HOUR_MS, run: () => applyFileRetention(db, mediaRetentionMs) },
    ruleJob(db, MESSAGE_RETENTION, messageRetentionMs),
    ruleJob(db, CAMPAIGN_RETENTION, campaignRetentionMs),
    ruleJob(db, LEAD_RETENTION, leadRetentionMs),
    // Only the retention of an account: that of the gateway drops whole days of them.
    ruleJob(db, EVENT_RETENTION),
    ruleJob(db, LOG_RETENTION),
  ];
}

function ruleJob(db: Db, rule: RetentionRule, defaultMs?: number): RecurringJob {
  const name = `${rule.kind}-retention`;
  return { name, everyMs: TEN_MINUTES_MS, run: () => applyRetention(db, rule, defaultMs) };
}
