import { lidJid } from "../../network/jid.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { isImpossiblePhone } from "../../platform/phone/read-phone-number.ts";

export interface LidMapping {
  lid: string;
  /** Null while no session of the account has received it. */
  phone: string | null;
}

/** The people behind digits that are no valid phone but a LID known to the account, by the digits. */
export async function findLidMappings(
  db: Db | Trx,
  accountId: number,
  numbers: readonly string[],
): Promise<Map<string, LidMapping>> {
  const digits = new Map(
    numbers.filter(isImpossiblePhone).map((number) => [lidJid(number) as string, number]),
  );
  if (digits.size === 0) return new Map();
  const rows = await db
    .selectFrom("instance as i")
    .innerJoin("contact as c", "c.instance_id", "i.id")
    .select(["c.lid", "c.phone"])
    .where("i.account_id", "=", accountId)
    .where("c.lid", "in", [...digits.keys()])
    .execute();
  const mappings = new Map<string, LidMapping>();
  for (const { lid, phone } of rows) {
    const number = lid === null ? undefined : digits.get(lid);
    if (lid === null || number === undefined) continue;
    mappings.set(number, { lid, phone: phone ?? mappings.get(number)?.phone ?? null });
  }
  return mappings;
}
