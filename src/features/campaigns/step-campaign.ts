import { sql } from "kysely";
import type { Job } from "../../engine/engine.ts";
import { removeLane } from "../../engine/lane-store.ts";
import type { Trx } from "../../platform/db/database.ts";
import { recordEvents } from "../events/events.ts";
import type { CampaignProgress } from "./campaign-progress.ts";
import type { CampaignRow, CampaignTotals } from "./campaign-row.ts";
import {
  type CampaignDecision,
  type CampaignInstanceState,
  decideCampaign,
  readCampaignInstanceState,
} from "./decide-campaign.ts";
import {
  addMilliseconds,
  type CampaignSnapshot,
  type CampaignStep,
  pauseCampaign,
  runCampaign,
} from "./run-campaign.ts";
import { failOrphanedRecipients, withdrawQueuedSends } from "./withdraw-sends.ts";

const AGAIN_MS = 5_000;

export interface CampaignStepInput extends CampaignSnapshot {
  id: number;
  job: Job;
  progress: CampaignProgress;
  /** The totals counted before the campaign was locked. */
  totals: CampaignTotals | undefined;
  now: Date;
}

export interface CampaignStepResult {
  /** Lanes with new jobs, and lanes whose jobs were changed. */
  added: number[];
  changed: number[];
  /** The job is deleted, and its lane with it. */
  isFinished: boolean;
}

/**
 * One step of a campaign, decided and executed in one transaction together with the result of its own job.
 */
export async function stepCampaign(trx: Trx, turn: CampaignStepInput): Promise<CampaignStepResult> {
  const campaign = await lockRow(trx, turn.id);
  const instance = campaign && (await readCampaignInstanceState(trx, campaign.instance_id));
  const verdict: CampaignDecision = campaign
    ? decideCampaign(campaign, instance, turn.now)
    : { what: "over" };
  const step = campaign ? await take(trx, turn, campaign, instance, verdict) : { next: null, lanes: [] };
  const changed = step.next === null ? [...step.lanes, turn.job.lane.id] : step.lanes;
  if (step.next === null) await endJob(trx, turn);
  else await trx.updateTable("job").set({ run_at: step.next }).where("id", "=", turn.job.id).execute();
  const after = await select(trx, turn.id).executeTakeFirst();
  const drafts = after ? await turn.progress.eventDrafts(trx, after, turn.totals) : [];
  const eventLanes = await recordEvents(trx, drafts);
  const added = [...eventLanes, ...(instance ? [instance.lane] : [])];
  return { added, changed, isFinished: step.next === null };
}

async function take(
  trx: Trx,
  turn: CampaignStepInput,
  campaign: CampaignRow,
  instance: CampaignInstanceState | undefined,
  verdict: CampaignDecision,
): Promise<CampaignStep> {
  switch (verdict.what) {
    case "over":
      return { next: null, lanes: [] };
    case "wait":
      return { next: verdict.until, lanes: [] };
    case "fail":
      return fail(trx, campaign);
    case "hold":
      return {
        next: addMilliseconds(turn.now, AGAIN_MS),
        lanes: await pauseCampaign(trx, campaign, verdict.reason),
      };
    case "run":
      return instance ? runCampaign(trx, turn, campaign, instance) : fail(trx, campaign);
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

async function lockRow(trx: Trx, id: number): Promise<CampaignRow | undefined> {
  return select(trx, id).forNoKeyUpdate().executeTakeFirst();
}

function select(trx: Trx, id: number) {
  return trx.selectFrom("campaign").selectAll().where("id", "=", id).$castTo<CampaignRow>();
}

/** The lane is deleted with its job; a new start of the campaign creates a new one. */
async function endJob(trx: Trx, { id, job }: CampaignStepInput): Promise<void> {
  await trx.deleteFrom("job").where("lane", "=", job.lane.id).execute();
  await removeLane(trx, job.lane.id);
  await trx.updateTable("campaign").set({ lane: null }).where("id", "=", id).execute();
}
