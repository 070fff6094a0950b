import { sql } from "kysely";
import type { Engine, Job, JobResult, LaneKind } from "../../engine/engine.ts";
import type { Db } from "../../platform/db/database.ts";
import { faultPoint } from "../../platform/fault-point.ts";
import type { SuppressionList } from "../consent/consent.ts";
import type { Conversations, NumberResolver } from "../contacts/contacts.ts";
import { type CampaignProgress, createCampaignProgress } from "./campaign-progress.ts";
import type { CampaignRow } from "./campaign-row.ts";
import { chooseRecipients } from "./choose-recipients.ts";
import { decideCampaign, readCampaignInstanceState } from "./decide-campaign.ts";
import { findRecipientChats } from "./queue-recipients.ts";
import { type CampaignSnapshot, hasTooManyErrors, MAX_PREFETCHED, PREFETCH_MS } from "./run-campaign.ts";
import { stepCampaign } from "./step-campaign.ts";

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
  return { end: "settled", deleted: done.isFinished };
}

/** Does the slow work before the campaign is locked: a pause waits for that lock. */
async function prepare(deps: CampaignLaneDeps, id: number): Promise<CampaignSnapshot> {
  const campaign = await findCampaign(deps.db, id);
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

function findCampaign(db: Db, id: number): Promise<CampaignRow | undefined> {
  return db.selectFrom("campaign").selectAll().where("id", "=", id).$castTo<CampaignRow>().executeTakeFirst();
}
