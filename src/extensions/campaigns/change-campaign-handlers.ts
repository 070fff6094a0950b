import { sql } from "kysely";
import { requireUser } from "../../core/accounts/accounts.ts";
import { requireQueue } from "../../core/messages/messages.ts";
import type { Engine } from "../../engine/engine.ts";
import { addLane } from "../../engine/lane-store.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import type { OutputOf } from "../../platform/http/route.ts";
import {
  findStoredResponse,
  type IdempotentRequest,
  replayedResponse,
  runIdempotently,
} from "../../platform/http/run-idempotently.ts";
import { wholeAccount } from "../../platform/reach.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import {
  type CampaignRow,
  type CampaignStatus,
  ENDED_STATUSES,
  getCampaign,
  idempotentRequestOf,
  lockCampaign,
  lockCampaignAndSends,
  selectCampaigns,
  throwInvalidState,
} from "./campaign-row.ts";
import type { campaignsContract } from "./contract.ts";
import { isPausedByGateway } from "./decide-campaign.ts";
import { findTemplateWarnings } from "./find-template-warnings.ts";
import { withdrawQueuedSends } from "./withdraw-sends.ts";

export interface ChangeCampaignDeps {
  db: Db;
  engine: Engine;
  box: SecretBox;
  queue: "postgres" | "off";
}

type ChangeHandlers = Pick<
  Handlers<typeof campaignsContract>,
  "startCampaign" | "pauseCampaign" | "cancelCampaign"
>;

export function changeCampaignHandlers(deps: ChangeCampaignDeps): ChangeHandlers {
  const { db, box } = deps;
  return {
    async startCampaign({ input: { id, dry_run }, caller, idempotencyKey }) {
      const user = requireUser(caller);
      const campaign = await getCampaign(db, user, id);
      const once = dry_run ? undefined : idempotentRequestOf("campaigns/start", user, { id }, idempotencyKey);
      const earlier = once && (await findStoredResponse(db, box, once));
      if (earlier) return toStarted(replayedResponse(earlier.response as Start));
      const warnings = await findTemplateWarnings(db, campaign, user);
      const startable = await requireStartable(db, campaign);
      if (dry_run) return toDryRun(campaign, startable, warnings);
      const preview = { id, ...startable, warnings, dry_run };
      await requireQueue(deps);
      const started = await changeIdempotently(deps, once, async (trx) => {
        const locked = await lockCampaign(trx, user, id);
        const about = await requireStartable(trx, locked);
        return {
          response: { ...preview, ...about },
          lanes: [await startCampaign(trx, locked, about.status)],
        };
      });
      return toStarted(started);
    },

    async pauseCampaign({ input: { id }, caller, idempotencyKey }) {
      const user = requireUser(caller);
      const once = idempotentRequestOf("campaigns/pause", user, { id }, idempotencyKey);
      return changeIdempotently(deps, once, async (trx) => {
        const campaign = await lockCampaignAndSends(trx, user, id);
        if (!PAUSABLE_STATUSES.includes(campaign.status) && !isPausedByGateway(campaign))
          throwInvalidState(campaign, "paused");
        const { lanes } = await stop(trx, campaign, "paused");
        return { response: { id, status: "paused" as const }, lanes };
      });
    },

    async cancelCampaign({ input: { id }, caller, idempotencyKey }) {
      const user = requireUser(caller);
      const once = idempotentRequestOf("campaigns/cancel", user, { id }, idempotencyKey);
      return changeIdempotently(deps, once, async (trx) => {
        const campaign = await lockCampaignAndSends(trx, user, id);
        if (campaign.status === "completed" || campaign.status === "cancelled")
          throwInvalidState(campaign, "cancelled");
        const { lanes } = await stop(trx, campaign, "cancelled");
        const handed_over = await findHandedOver(trx, id);
        return { response: { id, status: "cancelled" as const, handed_over }, lanes };
      });
    },
  };
}

type Start = OutputOf<typeof campaignsContract.startCampaign>;

function toStarted(started: Start | OkResponse<Start>): OkResponse<Start> {
  const { data, options } = started instanceof OkResponse ? started : new OkResponse(started);
  const message = data.status === "scheduled" ? "Campaign scheduled" : "Campaign queued";
  return new OkResponse(data, { ...options, message });
}

function toDryRun(
  { id, status }: CampaignRow,
  { status: would_be, queued }: { status: CampaignStatus; queued: number },
  warnings: Start["warnings"],
): OkResponse<Start> {
  const message = `Dry run: nothing was changed. A start makes the campaign ${would_be}.`;
  return new OkResponse({ id, status, would_be, queued, warnings, dry_run: true }, { message });
}

/** Commits the change and its response together; then wakes the lanes. */
export async function changeIdempotently<Answer>(
  deps: ChangeCampaignDeps,
  once: IdempotentRequest | undefined,
  change: (trx: Trx) => Promise<{ response: Answer; lanes: number[] }>,
): Promise<Answer | OkResponse<Answer>> {
  const lanes: number[] = [];
  const response = await runIdempotently(deps, once, async (trx) => {
    const changed = await change(trx);
    lanes.push(...changed.lanes);
    return changed.response;
  });
  deps.engine.wake(lanes, { changed: true });
  return response;
}

/** Running or about to run, and not paused. */
export const PAUSABLE_STATUSES: readonly CampaignStatus[] = ["running", "scheduled", "queued"];

/** What the start returns. Throws CAMPAIGN_STATE, or VALIDATION_ERROR if there are no recipients. */
async function requireStartable(
  db: Db | Trx,
  campaign: CampaignRow,
): Promise<{ status: CampaignStatus; queued: number }> {
  const { id, instance_id, status, scheduled_at } = campaign;
  if (status !== "created" && status !== "paused") throwInvalidState(campaign, "started");
  const { rows } = await sql<{ has_instance: boolean; pending: number; total: number }>`
    select exists (select from instance where id = ${instance_id} and removed_at is null) as has_instance,
      count(*) filter (where status = 'pending') as pending, count(*) as total
    from campaign_recipient where campaign_id = ${id}`.execute(db);
  const { has_instance = false, pending = 0, total = 0 } = rows[0] ?? {};
  if (!has_instance)
    throw new GatewayError(
      "CAMPAIGN_STATE",
      "The instance of this campaign was removed. Create the campaign with another instance.",
      {
        details: { status, status_reason: "instance_removed" },
      },
    );
  if (total === 0) throw invalidField("recipients", "the campaign has none", "empty");
  const isLater = scheduled_at !== null && scheduled_at.getTime() > Date.now();
  return { status: isLater ? "scheduled" : "queued", queued: pending };
}

export async function startCampaign(
  trx: Trx,
  campaign: CampaignRow,
  status: CampaignStatus,
): Promise<number> {
  const { id, scheduled_at } = campaign;
  const lane = campaign.lane ?? (await addLane(trx, "campaign", String(id)));
  const run_at = status === "scheduled" && scheduled_at ? scheduled_at : sql<Date>`now()`;
  await trx
    .updateTable("campaign")
    .set({
      lane,
      status,
      status_reason: null,
      next_at: null,
      ended_at: null,
      archived_at: null,
      resumed_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
    })
    .where("id", "=", id)
    .execute();
  await trx.deleteFrom("job").where("lane", "=", lane).execute();
  await trx
    .insertInto("job")
    .values({ lane, prio: 1, pos: 0, grp: "tick", run_at, ref: JSON.stringify({ do: "tick" }) })
    .execute();
  return lane;
}

/**
 * Nothing is submitted after the commit, which also withdraws the queued sends. The lane's owner ends the
 * lane.
 */
async function stop(
  trx: Trx,
  campaign: CampaignRow,
  status: "paused" | "cancelled",
): Promise<{ lanes: number[] }> {
  const now = sql<Date>`now()`;
  await trx
    .updateTable("campaign")
    .set({
      status,
      status_reason: status === "paused" ? "user" : null,
      next_at: null,
      updated_at: now,
      ...(ENDED_STATUSES.includes(status) && { ended_at: now }),
    })
    .where("id", "=", campaign.id)
    .execute();
  const lanes = await withdrawQueuedSends(trx, campaign.id);
  if (campaign.lane === null) return { lanes };
  await trx.updateTable("job").set({ run_at: now }).where("lane", "=", campaign.lane).execute();
  return { lanes: [...lanes, campaign.lane] };
}

/**
 * Cancels some of the account's campaigns that have not ended, drafts too. Returns their number, and the
 * lanes to wake as changed after the commit.
 */
export async function cancelCampaigns(
  trx: Trx,
  accountId: number,
  atMost: number,
): Promise<{ count: number; lanes: number[] }> {
  const open = await selectCampaigns(trx, wholeAccount(accountId))
    .where("status", "not in", ENDED_STATUSES)
    .orderBy("id")
    .limit(atMost)
    .forUpdate()
    .execute();
  const lanes: number[] = [];
  for (const campaign of open) lanes.push(...(await stop(trx, campaign, "cancelled")).lanes);
  return { count: open.length, lanes };
}

/** Messages that were submitted before the end and have no outcome yet. */
async function findHandedOver(db: Trx, id: number): Promise<{ phone: string; message_id: string }[]> {
  return db
    .selectFrom("campaign_recipient as r")
    .innerJoin("message as m", "m.id", "r.message")
    .select(["r.phone", "m.message_id"])
    .where("r.campaign_id", "=", id)
    .where("r.status", "=", "queued")
    .orderBy("r.id")
    .execute();
}
