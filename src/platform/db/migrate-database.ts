import { Migrator, sql } from "kysely";
import { migrations } from "../../../migrations/all.ts";
import type { Db } from "./database.ts";
import { findPendingMigrations } from "./find-pending-migrations.ts";
import { ensurePartitions } from "./partitions.ts";
import { UnsupportedDatabaseError } from "./unsupported-database-error.ts";

const OLDEST_POSTGRES = 15;

/**
 * Migrates the database and creates its partitions; returns the names of the applied migrations. Safe if
 * several processes start at once. Leaves a database of a newer version unchanged. Throws UnsupportedDatabaseError.
 */
export async function migrateDatabase(db: Db): Promise<string[]> {
  await refuseOldPostgres(db);
  const pending = await findPendingMigrations(db);
  const provider = { getMigrations: async () => migrations };
  const applied = pending.length === 0 ? [] : await applyMigrations(new Migrator({ db, provider }));
  await ensurePartitions(db);
  return applied;
}

/** Applies missing migrations, up to `last` if given, in the caller's transaction. Creates no partitions. */
export async function migrateWithin(db: Db, last?: string): Promise<void> {
  await refuseOldPostgres(db);
  const provider = { getMigrations: async () => migrations };
  await applyMigrations(new Migrator({ db, provider, disableTransactions: true }), last);
}

async function applyMigrations(migrator: Migrator, last?: string): Promise<string[]> {
  const { error, results = [] } = await (last === undefined
    ? migrator.migrateToLatest()
    : migrator.migrateTo(last));
  if (error !== undefined) {
    const failed = results.find((one) => one.status === "Error")?.migrationName;
    throw new Error(
      `Database migration ${failed ?? ""} failed: ${error instanceof Error ? error.message : error}`,
      {
        cause: error,
      },
    );
  }
  return results.filter((one) => one.status === "Success").map((one) => one.migrationName);
}

async function refuseOldPostgres(db: Db): Promise<void> {
  const { rows } = await sql<{ server_version_num: string }>`show server_version_num`.execute(db);
  const major = Math.floor(Number(rows[0]?.server_version_num) / 10_000);
  if (major < OLDEST_POSTGRES) {
    throw new UnsupportedDatabaseError(
      `Waygate needs PostgreSQL ${OLDEST_POSTGRES} or newer; this database is PostgreSQL ${major}.`,
    );
  }
}
