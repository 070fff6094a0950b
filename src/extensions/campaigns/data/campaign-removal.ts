import type { Removal } from "../../../core/statement-hooks.ts";

/** Campaigns of a removed account plan no more sends, so no job is added to their lanes meanwhile. */
export const campaignRemoval: Removal = {
  async lanesOfAccount(trx, accountId) {
    const found = await trx
      .selectFrom("campaign")
      .select("lane")
      .where("account_id", "=", accountId)
      .execute();
    return found.flatMap(({ lane }) => lane ?? []);
  },
};
