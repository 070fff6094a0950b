import { LRUCache } from "lru-cache";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { EventDraft } from "../events/events.ts";
import { type CampaignRow, type CampaignTotals, countTotals } from "./campaign-row.ts";

const AT_MOST_EVERY_MS = 2_000;

/** Reports the progress of campaigns to the account's streams, at a limited rate and only after changes. */
export interface CampaignProgress {
  /** Counts if a report is due. Runs outside the campaign's lock, since the count is slow. */
  poll(db: Db, id: number): Promise<CampaignTotals | undefined>;
  eventDrafts(trx: Trx, campaign: CampaignRow, looked: CampaignTotals | undefined): Promise<EventDraft[]>;
}

interface ReportedProgress {
  at: number;
  status: string;
  totals: string;
}

export function createCampaignProgress(): CampaignProgress {
  const told = new LRUCache<number, ReportedProgress>({ max: 10_000 });
  return {
    async poll(db, id) {
      const at = told.get(id)?.at ?? 0;
      return performance.now() - at < AT_MOST_EVERY_MS ? undefined : countTotals(db, id);
    },

    async eventDrafts(trx, campaign, looked) {
      const before = told.get(campaign.id);
      const isSameState = before?.status === stateOf(campaign);
      if (isSameState && !looked) return [];
      // The report of a new state must be exact.
      const totals = isSameState && looked ? looked : await countTotals(trx, campaign.id);
      const now = { at: performance.now(), status: stateOf(campaign), totals: JSON.stringify(totals) };
      told.set(campaign.id, now);
      return isSameState && before.totals === now.totals ? [] : draftsOf(campaign, totals);
    },
  };
}

function stateOf({ status, status_reason }: CampaignRow): string {
  return `${status} ${status_reason ?? ""}`;
}

function draftsOf(campaign: CampaignRow, totals: CampaignTotals): EventDraft[] {
  const { id, instance_id, name, status, status_reason } = campaign;
  const data = { campaign: { id, name, status, status_reason }, totals };
  const about = { instance_id, chat: `campaign:${id}`, data };
  const progress: EventDraft = { ...about, event: "campaign.progress", isUndelivered: true };
  return status === "completed" ? [progress, { ...about, event: "campaign.completed" }] : [progress];
}
