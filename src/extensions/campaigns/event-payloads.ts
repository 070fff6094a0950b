import { z } from "zod";
import type { EventPayloads } from "../../core/event-payloads.ts";
import { named } from "../../platform/http/schema-name.ts";
import { campaign, totals } from "./contract.ts";

const campaignTotals = named(
  "CampaignEventData",
  z.object({
    campaign: campaign.pick({ id: true, name: true, status: true, status_reason: true, waiting: true }),
    totals,
  }),
);

export const CAMPAIGN_EVENT_PAYLOADS: EventPayloads = {
  "campaign.completed": { when: "a campaign ends", data: campaignTotals },
  "campaign.progress": {
    when: "the state or the totals of a campaign change, at most every 2 seconds",
    data: campaignTotals,
  },
};
