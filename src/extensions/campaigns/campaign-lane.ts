import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { Conversations, NumberResolver } from "../../core/contacts/contacts.ts";
import { type EventDraft, recordEvents } from "../../core/events/events.ts";
import type { Engine, Job, JobResult, LaneKind } from "../../engine/engine.ts";
import { removeLane } from "../../engine/lane-store.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { faultPoint } from "../../platform/fault-point.ts";
import { maxEntries } from "../../platform/limits/max-entries.ts";
import type { SuppressionList } from "../consent/consent.ts";
import { type CampaignRow, type CampaignTotals, countTotals, waitingOf } from "./campaign-row.ts";
import {
  type CampaignDecision,
  type CampaignInstanceState,
  decideCampaign,
  readCampaignInstanceState,
} from "./decide-campaign.ts";
import { chooseRecipients } from "./recipients/choose-recipients.ts";
import { findRecipientChats } from "./recipients/queue-recipients.ts";
import {
  addMilliseconds,
  type CampaignSnapshot,
  type CampaignStep,
  hasTooManyErrors,
  MAX_PREFETCHED,
  PREFETCH_MS,
  pauseCampaign,
  runCampaign,
} from "./run-campaign.ts";
import { failOrphanedRecipients, withdrawQueuedSends } from "./withdraw-sends.ts";

const AGAIN_MS = 5_000;

export interface CampaignLaneDeps {
  db: Db;
  engine: Engine;
  conversations: Conversations;
  numbers: NumberResolver;
  suppression: SuppressionList;
}

/**
 * One lane per running campaign, with one recurring job. The job moves the next due recipients into the
 * session's lane, at most 10 s of work ahead, so that sends of the API never queue behind them.
 */
export function campaignLane(deps: CampaignLaneDeps): LaneKind {
  const progress = createCampaignProgress();
  return { kind: "campaign", role: "worker", laneConcurrency: 1, run: (job) => tick(deps, progress, job) };
}

async function tick(deps: CampaignLaneDeps, progress: CampaignProgress, job: Job): Promise<JobResult> {
  const { db, engine } = deps;
  const id = Number(job.lane.key);
  const seen = await prepare(deps, id);
  const totals = await progress.poll(db, id);
  const now = await readNow(db);
  faultPoint("campaign:before-queue");
  const done = await db
    .transaction()
    .execute((trx) => stepCampaign(trx, { id, job, ...seen, progress, totals, now }));
  faultPoint("campaign:after-queue");
  engine.wake(done.added);
  engine.wake(done.changed, { changed: true });
  return { end: "committed", deleted: done.isFinished };
}

/** Does the slow work before the campaign is locked: a pause waits for that lock. */
async function prepare(deps: CampaignLaneDeps, id: number): Promise<CampaignSnapshot> {
  const campaign = await selectCampaign(deps.db, id).executeTakeFirst();
  const now = await readNow(deps.db);
  const instance = campaign && (await readCampaignInstanceState(deps.db, campaign.instance_id));
  if (!campaign || !instance || decideCampaign(campaign, instance, now).what !== "run") return {};
  const as_of = campaign.updated_at;
  if (await hasTooManyErrors(deps.db, campaign)) return { failing: as_of };
  const count = countNext(campaign, now);
  if (count === 0) return {};
  const onlyKnownChats = instance.new_chats_locked_until !== null && instance.new_chats_locked_until > now;
  const { ready, skipped } = await chooseRecipients(deps, campaign, { count, onlyKnownChats });
  return {
    prepared: { as_of, ready: await findRecipientChats(deps, instance, ready), skipped, onlyKnownChats },
  };
}

/** Due times follow the database's clock; a node's own clock may jump. */
async function readNow(db: Db): Promise<Date> {
  const { now } = await db.selectNoFrom(sql<Date>`clock_timestamp()`.as("now")).executeTakeFirstOrThrow();
  return now;
}

/** How many recipients can become due before the next step. */
function countNext({ next_at, min_delay_ms }: CampaignRow, now: Date): number {
  const aheadMs = PREFETCH_MS - Math.max(0, (next_at?.getTime() ?? 0) - now.getTime());
  return aheadMs < 0 ? 0 : Math.min(MAX_PREFETCHED, Math.ceil(aheadMs / Math.max(1, min_delay_ms)) + 1);
}

interface CampaignStepInput extends CampaignSnapshot {
  id: number;
  job: Job;
  progress: CampaignProgress;
  /** The totals counted before the campaign was locked. */
  totals: CampaignTotals | undefined;
  now: Date;
}

interface CampaignStepResult {
  /** Lanes with new jobs, and lanes whose jobs were changed. */
  added: number[];
  changed: number[];
  /** The job is deleted, and its lane with it. */
  isFinished: boolean;
}

/**
 * One step of a campaign, decided and executed in one transaction together with the result of its own job.
 */
async function stepCampaign(trx: Trx, input: CampaignStepInput): Promise<CampaignStepResult> {
  const campaign = await selectCampaign(trx, input.id).forNoKeyUpdate().executeTakeFirst();
  const instance = campaign && (await readCampaignInstanceState(trx, campaign.instance_id));
  const decision: CampaignDecision = campaign
    ? decideCampaign(campaign, instance, input.now)
    : { what: "over" };
  const step = campaign
    ? await applyDecision(trx, input, campaign, instance, decision)
    : { next: null, lanes: [] };
  const changed = step.next === null ? [...step.lanes, input.job.lane.id] : step.lanes;
  if (step.next === null) await endJob(trx, input);
  else await trx.updateTable("job").set({ run_at: step.next }).where("id", "=", input.job.id).execute();
  const after = await selectCampaign(trx, input.id).executeTakeFirst();
  const drafts = after ? await input.progress.eventDrafts(trx, after, input.totals) : [];
  const eventLanes = await recordEvents(trx, drafts);
  const added = [...eventLanes, ...(instance ? [instance.lane] : [])];
  return { added, changed, isFinished: step.next === null };
}

async function applyDecision(
  trx: Trx,
  input: CampaignStepInput,
  campaign: CampaignRow,
  instance: CampaignInstanceState | undefined,
  decision: CampaignDecision,
): Promise<CampaignStep> {
  switch (decision.what) {
    case "over":
      return { next: null, lanes: [] };
    case "wait":
      return { next: decision.until, lanes: [] };
    case "fail":
      return fail(trx, campaign);
    case "pause":
      return {
        next: addMilliseconds(input.now, AGAIN_MS),
        lanes: await pauseCampaign(trx, campaign, decision.reason),
      };
    case "run":
      return instance ? runCampaign(trx, input, campaign, instance) : fail(trx, campaign);
  }
}

/** Its instance is deleted. */
async function fail(trx: Trx, { id }: CampaignRow): Promise<CampaignStep> {
  await trx
    .updateTable("campaign")
    .set({ status: "failed", status_reason: "instance_removed", ended_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
  const lanes = await withdrawQueuedSends(trx, id);
  await failOrphanedRecipients(trx, id);
  return { next: null, lanes };
}

function selectCampaign(db: Db | Trx, id: number) {
  return db.selectFrom("campaign").selectAll().where("id", "=", id).$castTo<CampaignRow>();
}

/** The lane is deleted with its job; a new start of the campaign creates a new one. */
async function endJob(trx: Trx, { id, job }: CampaignStepInput): Promise<void> {
  await trx.deleteFrom("job").where("lane", "=", job.lane.id).execute();
  await removeLane(trx, job.lane.id);
  await trx.updateTable("campaign").set({ lane: null }).where("id", "=", id).execute();
}

const AT_MOST_EVERY_MS = 2_000;

/** Reports the progress of campaigns to the account's streams, at a limited rate and only after changes. */
interface CampaignProgress {
  /** Counts if a report is due. Runs outside the campaign's lock, since the count is slow. */
  poll(db: Db, id: number): Promise<CampaignTotals | undefined>;
  eventDrafts(trx: Trx, campaign: CampaignRow, polled: CampaignTotals | undefined): Promise<EventDraft[]>;
}

interface ReportedProgress {
  at: number;
  status: string;
  totals: string;
}

function createCampaignProgress(): CampaignProgress {
  const reported = new LRUCache<number, ReportedProgress>(maxEntries(10_000));
  return {
    async poll(db, id) {
      const at = reported.get(id)?.at ?? 0;
      return performance.now() - at < AT_MOST_EVERY_MS ? undefined : countTotals(db, id);
    },

    async eventDrafts(trx, campaign, polled) {
      const before = reported.get(campaign.id);
      const isSameState = before?.status === stateOf(campaign);
      if (isSameState && !polled) return [];
      // The report of a new state must be exact.
      const totals = isSameState && polled ? polled : await countTotals(trx, campaign.id);
      const now = { at: performance.now(), status: stateOf(campaign), totals: JSON.stringify(totals) };
      reported.set(campaign.id, now);
      if (isSameState && before.totals === now.totals) return [];
      await trx.updateTable("campaign").set({ totals: now.totals }).where("id", "=", campaign.id).execute();
      return draftsOf(campaign, totals);
    },
  };
}

function stateOf({ status, status_reason, waiting }: CampaignRow): string {
  return `${status} ${status_reason ?? ""} ${waiting?.until ?? ""}`;
}

function draftsOf(campaign: CampaignRow, totals: CampaignTotals): EventDraft[] {
  const { id, instance_id, name, status, status_reason } = campaign;
  const data = { campaign: { id, name, status, status_reason, waiting: waitingOf(campaign) }, totals };
  const about = { instance_id, chat: `campaign:${id}`, data };
  const progress: EventDraft = { ...about, event: "campaign.progress", isUndelivered: true };
  return status === "completed" ? [progress, { ...about, event: "campaign.completed" }] : [progress];
}
