import type { Trx } from "../../../platform/db/database.ts";
import { statementHooks } from "../../statement-hooks.ts";

/** Ends what acts for a user beside sign-ins, such as assistants: the password or role has changed. */
export async function endUserAccess(trx: Trx, user_id: number): Promise<void> {
  for (const end of statementHooks().endUserAccess) await end(trx, user_id);
}
