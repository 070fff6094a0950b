import { lidJid } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import type { contactsContract } from "./contract.ts";
import { searchedNumbers } from "./number-variants.ts";

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
  if (input.q) query = query.where(({ eb, or }) => or(conditions(input.q ?? "").map((one) => eb(...one))));
  return toPage(await query.execute(), input.limit, (row) => row.id);
}

type Condition = ["name" | "push_name" | "verified_name" | "phone" | "lid", "ilike" | "like", string];

function conditions(q: string): Condition[] {
  const part = `%${q.replace(/[\\%_]/g, "\\$&")}%`;
  const names = ["name", "push_name", "verified_name"] as const;
  const numbers = searchedNumbers(q);
  return [
    ...names.map((name): Condition => [name, "ilike", part]),
    ...numbers.map((number): Condition => ["phone", "like", `%${number}%`]),
    ...numbers.map((number): Condition => ["lid", "like", lidJid(number)]),
  ];
}
