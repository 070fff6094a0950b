import { sql } from "kysely";
import type { ReadinessFindings } from "../../core/health/health.ts";
import type { Db } from "../../platform/db/database.ts";

/** The age of the last verified backup, and whether a restore holds jobs back. */
export async function readBackupFindings(db: Db): Promise<Partial<ReadinessFindings>> {
  const { rows } = await sql`select from held_job limit 1`.execute(db);
  return { backupAgeMs: await findBackupAge(db), hasHeldJobs: rows.length > 0 };
}

/** Milliseconds since the last verified backup, or since the first account was created if there is none. */
export async function findBackupAge(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ age: number | null }>`
    select (extract(epoch from now() - coalesce(
      (select max(verified_at) from backup), (select min(created_at) from account))) * 1000)::float8 as age`.execute(
    db,
  );
  return rows[0]?.age ?? undefined;
}
