import { sql } from "kysely";
import type { Extension } from "../../core/extension.ts";
import { createSuppressionList } from "../consent/consent.ts";
import { CAMPAIGN_ERASURE } from "./campaign-erasure.ts";
import { campaignLane } from "./campaign-lane.ts";
import { CAMPAIGN_TABLES } from "./campaign-tables.ts";
import { campaignHandlers } from "./campaigns.ts";
import { campaignsContract } from "./contract.ts";
import { CAMPAIGN_RETENTION } from "./data/campaign-retention.ts";
import { CAMPAIGN_EVENT_PAYLOADS } from "./event-payloads.ts";
import { isFileOfCampaign } from "./is-file-of-campaign.ts";
import { updateRecipientStatus } from "./recipients/update-recipient-status.ts";
import { campaignSendGuard } from "./send-guard.ts";

export const campaignsExtension: Extension = {
  name: "campaigns",
  needs: ["consent"],
  contract: campaignsContract,
  events: CAMPAIGN_EVENT_PAYLOADS,
  tables: CAMPAIGN_TABLES,
  inStatements: {
    sendGuard: campaignSendGuard,
    fileUse: isFileOfCampaign,
    lanesOfAccount: (id) => sql`select lane from campaign where account_id = ${id} and lane is not null`,
    erasure: CAMPAIGN_ERASURE,
  },
  hooks: ({ config }) => ({
    outcomeFollower: updateRecipientStatus,
    retention: { rule: CAMPAIGN_RETENTION, defaultMs: config.campaignRetentionMs },
  }),
  async open({ config, db, requestDb, engine, box, outgoing, conversations, numbers, findCountry, media }) {
    const suppression = await createSuppressionList(db, box);
    return {
      handlers: campaignHandlers({
        db: requestDb,
        engine,
        box,
        queue: config.queue,
        findCountry,
        outgoing,
        suppression,
        converter: media.converter,
        maxBytes: config.mediaMaxBytes,
      }),
      lanes: [campaignLane({ db, engine, conversations, numbers, suppression })],
    };
  },
};
