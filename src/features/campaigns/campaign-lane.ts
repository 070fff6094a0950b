import { sql } from "kysely";
import type { Engine, Job, JobEnd, LaneKind } from "../../engine/engine.ts";
import type { Db } from "../../platform/db.ts";
import { faultPoint } from "../../platform/fault-point.ts";
import type { Suppression } from "../consent/consent.ts";
import type { Conversations, Numbers } from "../contacts/contacts.ts";
import { advanceCampaign } from "./advance-campaign.ts";
import type { CampaignRow } from "./campaign-row.ts";
import { chooseRecipients } from "./choose-recipients.ts";
import { judge, readInstanceState } from "./judge.ts";
import { createProgress, type Progress } from "./progress.ts";
import { findChats } from "./queue-recipients.ts";
import { AHEAD_MS, hasTooManyErrors, MOST_AHEAD, type Seen } from "./run-campaign.ts";

export interface CampaignLaneDeps {
  db: Db;
  engine: Engine;
  conversations: Conversations;
  numbers: Numbers;
  suppression: Suppression;
}

/**
 * One lane per campaign under way, with one job that comes again and again: it moves the next due recipients into the
 * session's lane, at most 10 s of work ahead, so that a send of the API is never stuck behind them.
 */
export function campaignLane(deps: CampaignLaneDeps): LaneKind {
  const progress = createProgress();
  return { kind: "campaign", role: "worker", width: 1, run: (job) => tick(deps, progress, job) };
}

async function tick(deps: CampaignLaneDeps, progress: Progress, job: Job): Promise<JobEnd> {
  const { db, engine } = deps;
  const id = Number(job.lane.key);
  const seen = await prepare(deps, id);
  const totals = await progress.look(db, id);
  const now = await readNow(db);
  faultPoint("campaign:before-queue");
  const done = await db
    .transaction()
    .execute((trx) => advanceCampaign(trx, { id, job, ...seen, progress, totals, now }));
  faultPoint("campaign:after-queue");
  engine.wake(done.added);
  engine.wake(done.changed, { changed: true });
  return { end: "settled", deleted: done.isOver };
}

/** Everything that takes its time, before the campaign is locked: a pause waits for that lock. */
async function prepare(deps: CampaignLaneDeps, id: number): Promise<Seen> {
  const campaign = await findCampaign(deps.db, id);
  const now = await readNow(deps.db);
  const instance = campaign && (await readInstanceState(deps.db, campaign.instance_id));
  if (!campaign || !instance || judge(campaign, instance, now).what !== "run") return {};
  const as_of = campaign.updated_at;
  if (await hasTooManyErrors(deps.db, campaign)) return { failing: as_of };
  const count = countNext(campaign, now);
  if (count === 0) return {};
  const onlyKnownChats = instance.new_chats_locked_until !== null && instance.new_chats_locked_until > now;
  const { ready, skipped } = await chooseRecipients(deps, campaign, { count, onlyKnownChats });
  return { prepared: { as_of, ready: await findChats(deps, instance, ready), skipped, onlyKnownChats } };
}

/** What waits is due by the database's clock; a node's own may jump. */
async function readNow(db: Db): Promise<Date> {
  const { now } = await db.selectNoFrom(sql<Date>`clock_timestamp()`.as("now")).executeTakeFirstOrThrow();
  return now;
}

/** So many at most can have their moment before the next look. */
function countNext({ next_at, min_delay_ms }: CampaignRow, now: Date): number {
  const aheadMs = AHEAD_MS - Math.max(0, (next_at?.getTime() ?? 0) - now.getTime());
  return aheadMs < 0 ? 0 : Math.min(MOST_AHEAD, Math.ceil(aheadMs / Math.max(1, min_delay_ms)) + 1);
}

function findCampaign(db: Db, id: number): Promise<CampaignRow | undefined> {
  return db.selectFrom("campaign").selectAll().where("id", "=", id).$castTo<CampaignRow>().executeTakeFirst();
}
