import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";

const MB = 1_048_576;
/** Why a media row has no file. */
export const STORAGE_QUOTA_REASON = "storage_quota";

/** Bytes that an account may still store; null: no limit. Below zero after a smaller plan. */
export async function findStorageLeft(db: Db | Trx, account_id: number): Promise<number | null> {
  return (await findStorage(db, account_id)).left;
}

async function findStorage(db: Db | Trx, account_id: number) {
  const row = await db
    .selectFrom("account as a")
    .innerJoin("plan as p", "p.id", "a.plan_id")
    .select(["p.max_storage_mb", sql<number>`storage_of(a.id)`.as("bytes")])
    .where("a.id", "=", account_id)
    .executeTakeFirst();
  const [limit, used] = [row?.max_storage_mb ?? null, row?.bytes ?? 0];
  return { limit, used, left: limit === null ? null : limit * MB - used };
}

/**
 * Throws STORAGE_QUOTA_EXCEEDED unless the account may store a file of this size, part of which is stored
 * already.
 */
export async function requireStorageQuota(
  db: Db,
  account_id: number,
  bytes: number,
  storedBytes = 0,
): Promise<void> {
  const storage = await findStorage(db, account_id);
  if (storage.left === null || storage.left + storedBytes >= bytes) return;
  const { limit } = storage;
  const [used, left] = [storage.used - storedBytes, storage.left + storedBytes];
  throw new GatewayError(
    "STORAGE_QUOTA_EXCEEDED",
    `The file exceeds the ${limit} MB of stored files that the account's plan allows. Delete files, or ask for a larger plan.`,
    {
      details: {
        quota: "max_storage_mb",
        limit,
        used_bytes: used,
        left_bytes: Math.max(0, left),
        wanted_bytes: bytes,
      },
    },
  );
}

/**
 * Whether the account exceeds its quota after a media row got this file, in the same transaction. Locks the
 * usage row, so that two files cannot both use the last quota.
 */
export async function isOverStorageQuota(trx: Trx, media: string): Promise<boolean> {
  const { rows } = await sql`
    select from media f
      join stored_file s on s.account_id = f.account_id and s.blob = f.blob and s.reference_count = 1
      join account a on a.id = f.account_id
      join plan p on p.id = a.plan_id
    where f.id = ${media} and storage_of(f.account_id) > p.max_storage_mb * ${sql.lit(MB)}::bigint`.execute(
    trx,
  );
  return rows.length > 0;
}
