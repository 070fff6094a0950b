import { sql } from "kysely";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import { requireUser } from "../accounts/accounts.ts";
import { createCampaignReport } from "./campaign-report.ts";
import { countTotals, ENDED_STATUSES, getCampaign, selectCampaigns, toCampaignView } from "./campaign-row.ts";
import { readCampaignTimeline } from "./campaign-timeline.ts";
import {
  type ChangeCampaignDeps,
  cancelCampaigns,
  changeCampaignHandlers,
} from "./change-campaign-handlers.ts";
import { createRecipientCheck } from "./check-recipients.ts";
import type { campaignsContract } from "./contract.ts";
import { endedCampaignHandlers } from "./ended-campaign-handlers.ts";
import { previewCampaign } from "./preview-campaign.ts";
import { type AddRecipientsDeps, createRecipientAdder } from "./recipient-adder.ts";
import { createRetryFailedHandler } from "./retry-failed-handler.ts";
import { type SaveCampaignDeps, saveCampaignHandlers } from "./save-campaign-handlers.ts";
import { withdrawSendsTo } from "./withdraw-sends.ts";

export { cancelCampaigns, ENDED_STATUSES, withdrawSendsTo };

export type CampaignDeps = AddRecipientsDeps & ChangeCampaignDeps & SaveCampaignDeps;

/** Campaigns: one message that goes to many recipients, one after the other. */
export function campaignHandlers(deps: CampaignDeps): Handlers<typeof campaignsContract> {
  const { db } = deps;
  return {
    ...saveCampaignHandlers(deps),
    ...changeCampaignHandlers(deps),
    ...endedCampaignHandlers(deps),
    retryFailedRecipients: createRetryFailedHandler(deps),
    addRecipients: createRecipientAdder(deps),
    getCampaignReport: createCampaignReport(db),
    checkRecipients: createRecipientCheck(deps),

    async listCampaigns({ input: { limit, cursor, q, status, instance_id, archived }, caller }) {
      const before = readCursor(cursor);
      const searched = containsText(q, sql`name, message_template`);
      let query = selectCampaigns(db, requireUser(caller)).where(searched);
      if (before !== undefined) query = query.where("id", "<", before);
      if (status !== undefined) query = query.where("status", "=", status);
      if (instance_id !== undefined) query = query.where("instance_id", "=", instance_id);
      if (archived !== undefined) query = query.where("archived_at", archived ? "is not" : "is", null);
      const found = await query
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const { rows, pagination } = toPage(found, limit, (row) => row.id);
      return new OkResponse(
        rows.map((row) => ({ ...toCampaignView(row), totals: row.totals })),
        { beside: { pagination } },
      );
    },

    async getCampaign({ input: { id }, caller }) {
      const campaign = await getCampaign(db, requireUser(caller), id);
      return { ...toCampaignView(campaign), totals: await countTotals(db, id) };
    },

    async getCampaignTimeline({ input: { id }, caller }) {
      const campaign = await getCampaign(db, requireUser(caller), id);
      return readCampaignTimeline(db, campaign.id);
    },

    async previewCampaign({ input: { id, ...order }, caller }) {
      const user = requireUser(caller);
      return previewCampaign(deps, await getCampaign(db, user, id), { ...order, reach: user });
    },
  };
}
