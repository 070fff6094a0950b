import { type RawBuilder, sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { Reach } from "../../platform/reach.ts";

interface PersonColumns {
  phone: RawBuilder<unknown>;
  lid?: RawBuilder<unknown>;
}

/**
 * Whether the person with this phone or LID is within reach: everybody, or a contact of one of the instances. The rows
 * are those of the account.
 */
export function isReachedPerson(
  { account_id, instance_ids }: Reach,
  { phone, lid = sql`null` }: PersonColumns,
): RawBuilder<boolean> {
  if (instance_ids === null) return sql<boolean>`true`;
  const reached = sql`select from contact reached where reached.account_id = ${account_id}
    and reached.instance_id = any(${instance_ids}::bigint[])`;
  // Two conditions, each with an index.
  return sql<boolean>`(exists (${reached} and reached.phone = any(number_variants(${phone})))
    or exists (${reached} and reached.lid = ${lid}))`;
}

/** As `isReachedPerson`, for one person. */
export async function reachesPerson(
  db: Db | Trx,
  reach: Reach,
  { phone, lid = null }: { phone: string | null; lid?: string | null },
): Promise<boolean> {
  if (reach.instance_ids === null) return true;
  const columns = { phone: sql`${phone}::text`, lid: sql`${lid}::text` };
  const { rows } = await sql`select 1 where ${isReachedPerson(reach, columns)}`.execute(db);
  return rows.length > 0;
}
