import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { recordAudit } from "../audit/audit.ts";

const AT_ONCE = 200;

/** Sets the status of ended trials; the end takes effect even before this runs. */
export async function endTrials(db: Db): Promise<void> {
  for (let ended = AT_ONCE; ended === AT_ONCE; ) {
    ended = await db.transaction().execute(endSomeTrials);
  }
}

async function endSomeTrials(trx: Trx): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    with over as (
      select id from account where status = 'trial' and trial_ends_at <= now()
      order by id limit ${AT_ONCE} for no key update skip locked
    )
    update account set status = 'expired', updated_at = now() from over where account.id = over.id
    returning account.id`.execute(trx);
  for (const { id } of rows) {
    const by = { caller: { kind: "system" } } as const;
    const target = { type: "account", id };
    await recordAudit(trx, { by, action: "account.expire", target, account_id: id, fields: ["status"] });
  }
  return rows.length;
}
