import { sql } from "kysely";
import { requireUser } from "../../core/accounts/accounts.ts";
import { keepOutgoing, requireQueue } from "../../core/messages/messages.ts";
import type { Trx } from "../../platform/db/database.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import { findStoredResponse, replayedResponse } from "../../platform/http/run-idempotently.ts";
import {
  type CampaignRow,
  type CampaignStatus,
  idempotentRequestOf,
  lockCampaign,
  requireCampaignQuota,
  throwInvalidState,
} from "./campaign-row.ts";
import { type ChangeCampaignDeps, changeIdempotently, startCampaign } from "./change-campaign-handlers.ts";
import type { campaignsContract } from "./contract.ts";

type RetryHandler = Handlers<typeof campaignsContract>["retryFailedRecipients"];
type Retried = { id: number; status: CampaignStatus; retried: number; left_out: number };

const RETRIABLE: readonly CampaignStatus[] = ["completed", "paused", "running", "queued", "scheduled"];

/** Lets failed recipients wait again, except those whom the message may have reached. */
export function createRetryFailedHandler(deps: ChangeCampaignDeps): RetryHandler {
  return async ({ input: { id }, caller, idempotencyKey }) => {
    const user = requireUser(caller);
    const once = idempotentRequestOf("campaigns/retry-failed", user, { id }, idempotencyKey);
    const earlier = once && (await findStoredResponse(deps.db, deps.box, once));
    if (earlier) return replayedResponse(earlier.response as Retried);
    await requireQueue(deps);
    return changeIdempotently(deps, once, async (trx) => {
      const campaign = await lockCampaign(trx, user, id);
      if (!RETRIABLE.includes(campaign.status)) throwInvalidState(campaign, "retried");
      const counts = await releaseFailed(trx, id);
      if (counts.retried > 0) await requireFile(trx, campaign);
      const lanes = campaign.lane === null ? [] : [campaign.lane];
      if (campaign.status !== "completed" || counts.retried === 0)
        return { response: { id, status: campaign.status, ...counts }, lanes };
      return {
        response: { id, status: "queued" as const, ...counts },
        lanes: [await resumeCampaign(trx, campaign)],
      };
    });
  };
}

/** Throws CAMPAIGN_STATE if the campaign's file is no longer stored. */
async function requireFile(trx: Trx, campaign: CampaignRow): Promise<void> {
  const file = campaign.media?.shared;
  if (file === undefined || (await keepOutgoing(trx, file))) return;
  const what =
    "retried: its file is no longer stored. Create a campaign with the file for the failed recipients";
  throwInvalidState({ ...campaign, status_reason: "file_gone" }, what);
}

/** A resumed campaign counts towards the plan's limit again. */
async function resumeCampaign(trx: Trx, campaign: CampaignRow): Promise<number> {
  const instance = await trx
    .selectFrom("instance")
    .select("id")
    .where("id", "=", campaign.instance_id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  if (!instance)
    throwInvalidState(
      { ...campaign, status_reason: "instance_removed" },
      "retried: its instance was removed",
    );
  await requireCampaignQuota(trx, campaign.account_id);
  return startCampaign(trx, campaign, "queued");
}

/**
 * Releases sends that timed out before they began. Sends that began have an unknown outcome and stay, as do
 * sends of erased messages.
 */
async function releaseFailed(trx: Trx, campaignId: number): Promise<{ retried: number; left_out: number }> {
  const { rows } = await sql<{ retried: number; left_out: number }>`
    with failed as materialized (
      select r.id, r.reason is not null and r.reason <> 'UNKNOWN_OUTCOME' and (r.reason <> 'SEND_TIMEOUT' or exists (
          select from message m where m.id = r.message and m.submitted_at is null)) as is_unsent
      from campaign_recipient r
      where r.campaign_id = ${campaignId} and r.status = 'failed' order by r.id for update of r
    ), released as (
      update campaign_recipient r
      set status = 'pending', reason = null, message = null, planned_at = null, decided_at = null
      from failed f where r.id = f.id and f.is_unsent
    )
    select count(*) filter (where is_unsent) as retried, count(*) filter (where not is_unsent) as left_out
    from failed`.execute(trx);
  return rows[0] ?? { retried: 0, left_out: 0 };
}
