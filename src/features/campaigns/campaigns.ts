import { type Handlers, Reply } from "../../platform/handler.ts";
import { readCursor, toPage } from "../../platform/paging.ts";
import { requireUser } from "../accounts/accounts.ts";
import { type AddDeps, createRecipientAdder } from "./add-recipients.ts";
import { countTotals, getCampaign, selectCampaigns, toCampaignView } from "./campaign-row.ts";
import { type ChangeDeps, cancelCampaigns, changeHandlers } from "./change-campaign.ts";
import type { campaignsContract } from "./contract.ts";
import { endedHandlers } from "./ended-campaigns.ts";
import { previewCampaign } from "./preview.ts";
import { recallFrom } from "./recall.ts";
import { createReport } from "./report.ts";
import { createRetry } from "./retry-failed.ts";
import { type SaveDeps, saveHandlers } from "./save-campaign.ts";

export { cancelCampaigns, recallFrom };

export type CampaignDeps = AddDeps & ChangeDeps & SaveDeps;

/** Campaigns: what is written once and goes to many, one after the other. */
export function campaignHandlers(deps: CampaignDeps): Handlers<typeof campaignsContract> {
  const { db } = deps;
  return {
    ...saveHandlers(deps),
    ...changeHandlers(deps),
    ...endedHandlers(deps),
    retryFailedRecipients: createRetry(deps),
    addRecipients: createRecipientAdder(deps),
    getCampaignReport: createReport(db),

    async listCampaigns({ input: { limit, cursor, status, instance_id, archived }, caller }) {
      const before = readCursor(cursor);
      let query = selectCampaigns(db, requireUser(caller).account_id);
      if (before !== undefined) query = query.where("id", "<", before);
      if (status !== undefined) query = query.where("status", "=", status);
      if (instance_id !== undefined) query = query.where("instance_id", "=", instance_id);
      if (archived !== undefined) query = query.where("archived_at", archived ? "is not" : "is", null);
      const found = await query
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const { rows, pagination } = toPage(found, limit, (row) => row.id);
      return new Reply(rows.map(toCampaignView), { beside: { pagination } });
    },

    async getCampaign({ input: { id }, caller }) {
      const campaign = await getCampaign(db, requireUser(caller).account_id, id);
      return { ...toCampaignView(campaign), totals: await countTotals(db, id) };
    },

    async previewCampaign({ input: { id, ...order }, caller }) {
      return previewCampaign(db, await getCampaign(db, requireUser(caller).account_id, id), order);
    },
  };
}
