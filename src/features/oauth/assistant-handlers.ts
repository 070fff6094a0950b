import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import { grantedInstancesSql, requireUser } from "../accounts/accounts.ts";
import { recordAudit } from "../audit/audit.ts";
import type { oauthContract } from "./contract.ts";

/** The assistants of an account: administrators see all, an agent sees its own. */
export function assistantHandlers(db: Db): Handlers<typeof oauthContract> {
  return {
    async listAssistants({ input: { limit, cursor }, caller }) {
      const { account_id, user_id, role } = requireUser(caller);
      const before = readCursor(cursor);
      let query = selectGrants(db)
        .where("g.account_id", "=", account_id)
        .orderBy("g.id", "desc")
        .limit(limit + 1);
      if (role === "agent") query = query.where("g.user_id", "=", user_id);
      if (before !== undefined) query = query.where("g.id", "<", before);
      const { rows, pagination } = toPage(await query.execute(), limit, ({ id }) => id);
      const shown = rows.map(({ user_id: id, user_name: name, ...row }) => ({ ...row, user: { id, name } }));
      return new OkResponse(shown, { beside: { pagination } });
    },

    async disconnectAssistant({ input: { id }, ...by }) {
      const { account_id, user_id, role } = requireUser(by.caller);
      await db.transaction().execute(async (trx) => {
        let query = trx.deleteFrom("oauth_grant").where("id", "=", id).where("account_id", "=", account_id);
        if (role === "agent") query = query.where("user_id", "=", user_id);
        const removed = await query.returning("id").executeTakeFirst();
        if (!removed) throw new GatewayError("NOT_FOUND", "There is no such assistant.");
        const target = { type: "assistant", id };
        await recordAudit(trx, { by, action: "assistant.revoke", target, account_id });
      });
      return { id };
    },
  };
}

/** Without those whose client has not fetched its tokens yet. */
function selectGrants(db: Db) {
  return db
    .selectFrom("oauth_grant as g")
    .innerJoin("account_user as u", "u.id", "g.user_id")
    .select(["g.id", "g.client_name", "g.client_id", "g.redirect_host", "g.user_id", "u.name as user_name"])
    .select([
      grantedInstancesSql.as("instance_ids"),
      "g.scopes",
      "g.created_at",
      "g.expires_at",
      "g.last_used_at",
    ])
    .where("g.activated_at", "is not", null);
}
