import { GatewayError } from "../../platform/errors.ts";
import type { Handlers } from "../../platform/handler.ts";
import { requireUser } from "../accounts/accounts.ts";
import type { crmContract } from "./contract.ts";
import { customFieldHandlers } from "./custom-fields.ts";
import { createLeadFollower } from "./follow-inbound.ts";
import { createLeadImporter } from "./import-leads.ts";
import { getLeadDetails } from "./lead-details.ts";
import { type LeadDeps, leadHandlers, lockLead } from "./leads.ts";

export { createLeadFollower };

/** Leads, and what hangs on them. */
export function crmHandlers(deps: LeadDeps): Handlers<typeof crmContract> {
  const { db } = deps;
  return {
    ...leadHandlers(deps),
    importLeads: createLeadImporter(deps),
    ...customFieldHandlers(db),

    getLeadDetails: ({ input: { id }, caller }) => getLeadDetails(db, requireUser(caller).account_id, id),

    async addLeadNote({ input: { id, note }, caller }) {
      const { account_id, user_id } = requireUser(caller);
      return db.transaction().execute(async (trx) => {
        await lockLead(trx, account_id, id);
        return trx
          .insertInto("lead_note")
          .values({ account_id, lead_id: id, user_id, note })
          .returningAll()
          .executeTakeFirstOrThrow();
      });
    },

    async deleteLeadNote({ input: { id, noteId }, caller }) {
      const deleted = await db
        .deleteFrom("lead_note")
        .where("id", "=", noteId)
        .where("lead_id", "=", id)
        .where("account_id", "=", requireUser(caller).account_id)
        .returning("id")
        .executeTakeFirst();
      if (!deleted) throw new GatewayError("NOT_FOUND", "There is no such note.");
      return deleted;
    },
  };
}
