import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";

/** Whether there is more than one account. */
export async function hasOtherAccounts(db: Db | Trx): Promise<boolean> {
  const { rows } = await sql`select from account offset 1 limit 1`.execute(db);
  return rows.length > 0;
}

/** Whether only one account exists. Queries each time until there are two, since any node can add one. */
export function createSoleAccountCheck({ db, log }: { db: Db; log: Log }): () => Promise<boolean> {
  let isSole = true;
  return async () => {
    if (!isSole || !(await hasOtherAccounts(db))) return isSole;
    if (isSole) log.warn(NO_LONGER_SOLE);
    isSole = false;
    return isSole;
  };
}

const NO_LONGER_SOLE =
  "a second account exists, so outgoing requests to this machine are now blocked; allow single hosts and ports with WAYGATE_ALLOWED_HOSTS";
