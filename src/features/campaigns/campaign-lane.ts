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
import { AHEAD_MS, MOST_AHEAD, type Prepared } from "./run-campaign.ts";

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
  const prepared = await prepare(deps, id);
  faultPoint("campaign:before-queue");
  const done = await db
    .transaction()
    .execute((trx) => advanceCampaign(trx, { id, job, prepared, progress, now: new Date() }));
  faultPoint("campaign:after-queue");
  engine.wake(done.added);
  engine.wake(done.changed, { changed: true });
  return { end: "settled", deleted: done.isOver };
}

/** Everything that takes its time, before the campaign is locked. */
async function prepare(deps: CampaignLaneDeps, id: number): Promise<Prepared | undefined> {
  const campaign = await findCampaign(deps.db, id);
  const now = new Date();
  const instance = campaign && (await readInstanceState(deps.db, campaign.instance_id));
  if (!campaign || !instance || judge(campaign, instance, now).what !== "run") return undefined;
  if (campaign.next_at && campaign.next_at.getTime() > now.getTime() + AHEAD_MS) return undefined;
  const onlyKnownChats = instance.new_chats_locked_until !== null && instance.new_chats_locked_until > now;
  const count = Math.min(MOST_AHEAD, Math.ceil(AHEAD_MS / Math.max(1, campaign.min_delay_ms)) + 1);
  const { ready, skipped } = await chooseRecipients(deps, campaign, { count, onlyKnownChats });
  return {
    as_of: campaign.updated_at,
    ready: await findChats(deps, instance, ready),
    skipped,
    onlyKnownChats,
  };
}

function findCampaign(db: Db, id: number): Promise<CampaignRow | undefined> {
  return db.selectFrom("campaign").selectAll().where("id", "=", id).$castTo<CampaignRow>().executeTakeFirst();
}
