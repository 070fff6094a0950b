import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { CampaignRow } from "./campaign-row.ts";
import type { CampaignInstanceState } from "./decide-campaign.ts";
import { planSends, type SendPlan, type SendSchedule, startOfDay } from "./plan-sends.ts";
import type { RecipientChoice } from "./recipients/choose-recipients.ts";
import {
  queueRecipients,
  type ReadyRecipient,
  skipDuplicates,
  skipRecipients,
} from "./recipients/queue-recipients.ts";
import { withdrawQueuedSends } from "./withdraw-sends.ts";

/** How much work of a campaign waits in the lane of its session. */
export const PREFETCH_MS = 10_000;
/** The most recipients, however short the pauses. */
export const MAX_PREFETCHED = 250;

const AGAIN_MS = 5_000;
const DRAINING_MS = 1_000;
const REFILL_MS = 250;
const LOCKED_MS = 30_000;
/** With fewer outcomes an error rate is not meaningful. */
const FEWEST_FOR_RATE = 10;

/** The next recipients, as found before the campaign was locked. */
export interface PreparedRecipients {
  /** The version of the campaign that this was prepared for. */
  as_of: Date;
  ready: ReadyRecipient[];
  skipped: RecipientChoice["skipped"];
  onlyKnownChats: boolean;
}

/** What was read before the campaign was locked. */
export interface CampaignSnapshot {
  prepared?: PreparedRecipients;
  /** The version of the campaign in which too many sends have failed. */
  failing?: Date;
}

/** When the campaign's next step is, null for never; and the lanes from which sends were withdrawn. */
export interface CampaignStep {
  next: Date | null;
  lanes: number[];
}

/** Queues due recipients, and ends the campaign with its last outcome. */
export async function runCampaign(
  trx: Trx,
  step: CampaignSnapshot & { now: Date },
  campaign: CampaignRow,
  instance: CampaignInstanceState,
): Promise<CampaignStep> {
  if (step.failing?.getTime() === campaign.updated_at.getTime())
    return { next: null, lanes: await pauseCampaign(trx, campaign, "error_rate") };
  // The preparation for an earlier version of the campaign may no longer apply.
  const isCurrent = step.prepared?.as_of.getTime() === campaign.updated_at.getTime();
  const prepared = isCurrent ? step.prepared : undefined;
  const reason = prepared && isLockedOut(prepared) ? "reachout_timelock" : null;
  await setRunning(trx, campaign, reason);
  const queued = await queueNext(trx, step.now, campaign, instance, prepared);
  const waiting = await countWaiting(trx, campaign.id);
  await setWaiting(trx, campaign, waiting.pending ? queued.waiting : null);
  if (!queued.isInQuota) {
    // Sends within the quota still go out: a pause would withdraw them.
    if (waiting.queued > 0) return { next: addMilliseconds(step.now, DRAINING_MS), lanes: [] };
    return {
      next: addMilliseconds(step.now, AGAIN_MS),
      lanes: await pauseCampaign(trx, campaign, "message_quota"),
    };
  }
  if (waiting.pending || waiting.queued > 0) {
    return { next: nextStepAt(step, waiting.pending, queued.nextAt, prepared), lanes: [] };
  }
  await complete(trx, campaign);
  return { next: null, lanes: [] };
}

export function addMilliseconds(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

/** Pauses the campaign; returns the lanes from which sends were withdrawn. */
export async function pauseCampaign(trx: Trx, campaign: CampaignRow, reason: string): Promise<number[]> {
  if (campaign.status === "paused" && campaign.status_reason === reason) return [];
  await trx
    .updateTable("campaign")
    .set({ status: "paused", status_reason: reason, next_at: null, updated_at: sql<Date>`now()` })
    .where("id", "=", campaign.id)
    .execute();
  return withdrawQueuedSends(trx, campaign.id);
}

/** Whether too many sends have failed to continue with the waiting recipients. */
export async function hasTooManyErrors(db: Db, campaign: CampaignRow): Promise<boolean> {
  const { id, stop_on_error_rate: limit, resumed_at } = campaign;
  if (limit === null) return false;
  const { rows } = await sql<{ decided: number; failed: number }>`
    select count(*) as decided, count(*) filter (where status = 'failed') as failed
    from campaign_recipient
    where campaign_id = ${id} and status in ('sent', 'delivered', 'read', 'failed')
      and decided_at >= ${resumed_at}::timestamptz
      and exists (select from campaign_recipient where campaign_id = ${id} and status in ('pending', 'queued'))`.execute(
    db,
  );
  const { decided = 0, failed = 0 } = rows[0] ?? {};
  return decided >= FEWEST_FOR_RATE && failed / decided >= limit;
}

/** The network rejects new chats now, and all waiting recipients are new chats. */
function isLockedOut({ onlyKnownChats, ready, skipped }: PreparedRecipients): boolean {
  return onlyKnownChats && ready.length + skipped.length === 0;
}

async function setRunning(trx: Trx, { id, status, status_reason }: CampaignRow, reason: string | null) {
  if (status === "running" && status_reason === reason) return;
  await trx
    .updateTable("campaign")
    .set({
      status: "running",
      status_reason: reason,
      started_at: sql<Date>`coalesce(started_at, now())`,
    })
    .where("id", "=", id)
    .execute();
}

interface Queued {
  /** False: the account's monthly quota is used up. */
  isInQuota: boolean;
  nextAt: Date | null;
  waiting: CampaignRow["waiting"];
}

async function setWaiting(trx: Trx, { id, waiting }: CampaignRow, now: CampaignRow["waiting"]) {
  if (waiting?.reason === now?.reason && waiting?.until === now?.until) return;
  await trx
    .updateTable("campaign")
    .set({ waiting: now && JSON.stringify(now) })
    .where("id", "=", id)
    .execute();
}

async function queueNext(
  trx: Trx,
  now: Date,
  campaign: CampaignRow,
  instance: CampaignInstanceState,
  prepared: PreparedRecipients | undefined,
): Promise<Queued> {
  if (!prepared) return { isInQuota: true, nextAt: campaign.next_at, waiting: campaign.waiting };
  await skipRecipients(trx, prepared.skipped);
  const ready = await skipDuplicates(trx, campaign, prepared.ready);
  const { queued } = await countWaiting(trx, campaign.id);
  const count = Math.min(ready.length, Math.max(0, MAX_PREFETCHED - queued));
  const { moments, nextAt, waitingFor } = await plan(trx, { now, count }, campaign, instance);
  const planned = ready.flatMap((recipient, index) => {
    const at = moments[index];
    return at ? [{ recipient, at }] : [];
  });
  const isInQuota = await queueRecipients(trx, campaign, instance, planned);
  await trx.updateTable("campaign").set({ next_at: nextAt }).where("id", "=", campaign.id).execute();
  const waiting =
    isLockedOut(prepared) && instance.new_chats_locked_until
      ? { reason: "reachout_timelock" as const, until: instance.new_chats_locked_until.toISOString() }
      : waitingFor && { reason: waitingFor, until: nextAt.toISOString() };
  return { isInQuota, nextAt, waiting };
}

async function plan(
  trx: Trx,
  { now, count }: { now: Date; count: number },
  campaign: CampaignRow,
  { time_zone }: CampaignInstanceState,
): Promise<SendPlan> {
  const schedule = { ...campaign, time_zone };
  const random = Math.random;
  const earliest = campaign.next_at ?? (await afterTheLast(trx, campaign, random));
  const from = earliest && earliest > now ? earliest : now;
  return planSends({
    schedule,
    from,
    until: addMilliseconds(now, PREFETCH_MS),
    count,
    plannedToday: campaign.daily_limit === null ? 0 : await countPlanned(trx, schedule, from),
    random,
  });
}

/** The campaign's own pause between two recipients applies even after a short interruption. */
async function afterTheLast(
  trx: Trx,
  { id, min_delay_ms, max_delay_ms }: CampaignRow,
  random: () => number,
): Promise<Date | undefined> {
  const { rows } = await sql<{ last: Date | null }>`
    select max(planned_at) as last from campaign_recipient where campaign_id = ${id}`.execute(trx);
  const last = rows[0]?.last;
  return last ? addMilliseconds(last, min_delay_ms + random() * (max_delay_ms - min_delay_ms)) : undefined;
}

/** Since the beginning of the day that contains this moment. */
async function countPlanned(trx: Trx, schedule: SendSchedule & { id: number }, at: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from campaign_recipient
    where campaign_id = ${schedule.id} and planned_at >= ${startOfDay(schedule, at)}`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** The sort order uses the index of waiting recipients, however many have finished. */
async function countWaiting(trx: Trx, id: number): Promise<{ pending: boolean; queued: number }> {
  const { rows } = await sql<{ pending: boolean; queued: number }>`
    select (select id from campaign_recipient where campaign_id = ${id} and status = 'pending' order by id limit 1)
        is not null as pending,
      (select count(*) from campaign_recipient where campaign_id = ${id} and status = 'queued') as queued`.execute(
    trx,
  );
  return rows[0] ?? { pending: false, queued: 0 };
}

function nextStepAt(
  { prepared: found, now }: CampaignSnapshot & { now: Date },
  isPending: boolean,
  nextAt: Date | null,
  prepared: PreparedRecipients | undefined,
): Date {
  if (!isPending) return addMilliseconds(now, DRAINING_MS);
  if (prepared && isLockedOut(prepared)) return addMilliseconds(now, LOCKED_MS);
  if (prepared && prepared.skipped.length > 0) return now;
  if (!prepared && found) return now;
  if (nextAt === null || nextAt <= addMilliseconds(now, PREFETCH_MS)) return addMilliseconds(now, REFILL_MS);
  return new Date(Math.min(nextAt.getTime() - PREFETCH_MS / 2, now.getTime() + AGAIN_MS));
}

async function complete(trx: Trx, { id }: CampaignRow): Promise<void> {
  await trx
    .updateTable("campaign")
    .set({
      status: "completed",
      status_reason: null,
      ended_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
    })
    .where("id", "=", id)
    .execute();
}
