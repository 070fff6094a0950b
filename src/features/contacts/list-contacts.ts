import { type RawBuilder, sql } from "kysely";
import { lidJid } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { searchedNumbers } from "../../platform/phone/number-variants.ts";
import type { contactsContract } from "./contract.ts";

/** The newest first. */
export async function listContacts(db: Db, input: InputOf<typeof contactsContract.listContacts>) {
  const before = readCursor(input.cursor);
  let query = db
    .selectFrom("contact")
    .select(["id", "jid", "lid", "phone", "name", "push_name", "verified_name"])
    .select(["is_business", "picture_url", "is_blocked", "updated_at"])
    .where("instance_id", "=", input.id)
    .orderBy("id", "desc")
    .limit(input.limit + 1);
  if (before !== undefined) query = query.where("id", "<", before);
  if (input.q) query = query.where(isCalled(input.q));
  return toPage(await query.execute(), input.limit, (row) => row.id);
}

function isCalled(q: string): RawBuilder<boolean> {
  const lids = searchedNumbers(q).map(lidJid);
  return sql`(${containsText(q, sql`name, push_name, verified_name, phone`)} or lid = any(${lids}::text[]))`;
}
