import { sql } from "kysely";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import { requireUser } from "../accounts/accounts.ts";
import type { crmContract } from "./contract.ts";
import { customFieldHandlers } from "./custom-field-handlers.ts";
import { findLeadLabels } from "./find-lead-labels.ts";
import { getLeadDetails } from "./get-lead-details.ts";
import { createLeadFollower } from "./lead-follower.ts";
import { type LeadDeps, leadHandlers } from "./lead-handlers.ts";
import { createLeadImporter } from "./lead-importer.ts";
import { getLead, isReachedLead, lockLead } from "./lead-row.ts";

export { createLeadFollower, getLead };

/** Leads, and the data that belongs to them. */
export function crmHandlers(deps: LeadDeps): Handlers<typeof crmContract> {
  const { db } = deps;
  return {
    ...leadHandlers(deps),
    importLeads: createLeadImporter(deps),
    ...customFieldHandlers(db),

    listLeadLabels: ({ caller }) => findLeadLabels(db, requireUser(caller)),
    getLeadDetails: ({ input: { id }, caller }) => getLeadDetails(db, requireUser(caller), id),

    async addLeadNote({ input: { id, note }, caller }) {
      const user = requireUser(caller);
      const { account_id, user_id } = user;
      return db.transaction().execute(async (trx) => {
        await lockLead(trx, user, id);
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
        .where(
          sql<boolean>`exists (select from lead where id = ${id} and ${isReachedLead(requireUser(caller))})`,
        )
        .returning("id")
        .executeTakeFirst();
      if (!deleted) throw new GatewayError("NOT_FOUND", "There is no such note.");
      return deleted;
    },
  };
}
