import type { Extension } from "../../core/extension.ts";
import { createSuppressionList } from "../consent/consent.ts";
import { addPhonesToLeads } from "./add-phones-to-leads.ts";
import { crmContract } from "./contract.ts";
import { crmHandlers } from "./crm.ts";
import { createLeadFollower } from "./lead-follower.ts";
import { LEAD_RETENTION } from "./lead-retention.ts";
import { LEAD_TABLES } from "./lead-tables.ts";

const MINUTE_MS = 60_000;

export const crmExtension: Extension = {
  name: "crm",
  needs: ["campaigns", "consent"],
  contract: crmContract,
  tables: LEAD_TABLES,
  hooks: async ({ config, db, box }) => ({
    inboundFollower: createLeadFollower(await createSuppressionList(db, box)),
    retention: { rule: LEAD_RETENTION, defaultMs: config.leadRetentionMs },
  }),
  async open({ db, requestDb, box, findCountry }) {
    const suppression = await createSuppressionList(db, box);
    return {
      handlers: crmHandlers({ db: requestDb, suppression, findCountry }),
      recurringJobs: [
        { name: "linked-leads", everyMs: MINUTE_MS, run: () => addPhonesToLeads(db, suppression) },
      ],
    };
  },
};
