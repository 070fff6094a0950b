import { sql } from "kysely";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { requireUser } from "../accounts/accounts.ts";
import { recordAudit } from "../audit/audit.ts";
import {
  type CampaignRow,
  ENDED_STATUSES,
  lockCampaign,
  lockCampaignAndSends,
  throwInvalidState,
  toCampaignView,
} from "./campaign-row.ts";
import { type ChangeCampaignDeps, PAUSABLE_STATUSES } from "./change-campaign-handlers.ts";
import type { campaignsContract } from "./contract.ts";
import { isPausedByGateway } from "./decide-campaign.ts";
import { withdrawQueuedSends } from "./withdraw-sends.ts";

type EndedHandlers = Pick<Handlers<typeof campaignsContract>, "archiveCampaign" | "deleteCampaign">;

/** Handlers that remove or hide ended campaigns. */
export function endedCampaignHandlers({
  db,
  engine,
}: Pick<ChangeCampaignDeps, "db" | "engine">): EndedHandlers {
  return {
    async archiveCampaign({ input: { id, archived }, caller }) {
      const user = requireUser(caller);
      const row = await db.transaction().execute(async (trx) => {
        const campaign = await lockCampaign(trx, user, id);
        if (!ENDED_STATUSES.includes(campaign.status)) throwInvalidState(campaign, "archived");
        return trx
          .updateTable("campaign")
          .set({ archived_at: archived ? sql<Date>`coalesce(archived_at, now())` : null })
          .where("id", "=", id)
          .returningAll()
          .$castTo<CampaignRow>()
          .executeTakeFirstOrThrow();
      });
      const message = archived ? "Campaign archived" : "Campaign restored from the archive";
      return new OkResponse(toCampaignView(row), { message });
    },

    async deleteCampaign({ input: { id }, ...by }) {
      const user = requireUser(by.caller);
      const { account_id } = user;
      const lanes = await db.transaction().execute(async (trx) => {
        const campaign = await lockCampaignAndSends(trx, user, id);
        if (PAUSABLE_STATUSES.includes(campaign.status) || isPausedByGateway(campaign))
          throwInvalidState(
            campaign,
            `deleted. ${isPausedByGateway(campaign) ? "Cancel" : "Pause or cancel"} it first`,
          );
        const lanes = await withdrawQueuedSends(trx, id);
        await trx.deleteFrom("campaign").where("id", "=", id).execute();
        const target = { type: "campaign", id };
        await recordAudit(trx, { by, action: "campaign.delete", target, account_id, fields: [] });
        if (campaign.lane === null) return lanes;
        // The lane's owner finds no campaign and ends the lane.
        const now = sql<Date>`now()`;
        await trx.updateTable("job").set({ run_at: now }).where("lane", "=", campaign.lane).execute();
        return [...lanes, campaign.lane];
      });
      engine.wake(lanes, { changed: true });
      return { id };
    },
  };
}
