import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Caller } from "../../platform/http/handler.ts";
import { isWithin } from "../../platform/reach.ts";

const ROW_ID = /^[1-9]\d{0,15}$/;
const ANY = "default";

/**
 * Finds the instance of a session name. An API key finds only its own, by `default`, id or name; a signed-in
 * user finds any within reach. Throws NOT_FOUND, and CONFLICT if several instances have the name.
 */
export async function getNamedInstance(db: Db, caller: Caller, session: string): Promise<number> {
  if (caller.kind !== "key" && caller.kind !== "user") throw notFound();
  let query = db
    .selectFrom("instance")
    .select("id")
    .where("account_id", "=", caller.account_id)
    .where("removed_at", "is", null)
    .limit(2);
  query =
    caller.kind === "key"
      ? query.where("id", "=", caller.instance_id)
      : query.where(isWithin(caller, sql.ref("id")));
  const isAny = caller.kind === "key" && session === ANY;
  if (!isAny)
    query = query.where(({ eb, or }) =>
      or([eb("name", "=", session), ...(ROW_ID.test(session) ? [eb("id", "=", Number(session))] : [])]),
    );
  const [found, another] = await query.execute();
  if (!found) throw notFound();
  if (another) throw new GatewayError("CONFLICT", `Several instances are named ${session}. Use the id.`);
  return found.id;
}

function notFound(): GatewayError {
  return new GatewayError(
    "NOT_FOUND",
    "There is no such session for this key. Use `default`, or the id or name of its instance.",
  );
}
