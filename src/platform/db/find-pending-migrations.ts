import { sql } from "kysely";
import { migrations } from "../../../migrations/all.ts";
import { type Db, isMissingTable } from "./database.ts";
import { UnsupportedDatabaseError } from "./unsupported-database-error.ts";

/** The names of all migrations of this version, in order. */
export function knownMigrations(): string[] {
  return Object.keys(migrations).sort();
}

/**
 * The migrations of this version that the database does not have yet, in order. Throws if a version before 2.0.0 made
 * the database.
 */
export async function findPendingMigrations(db: Db): Promise<string[]> {
  const applied = await findAppliedMigrations(db);
  const known = knownMigrations();
  // Each version from 2.0.0 on begins with the same first migration.
  if (applied.length > 0 && !applied.includes(known[0] ?? "")) {
    throw new UnsupportedDatabaseError(
      `A version before 2.0.0 made this database, which has the unknown migration ${applied[0]}. Nothing was changed. ` +
        "Export the data of each account with that version (POST /api/data/export). Then start this version on an " +
        "empty database: set another DATABASE_URL or WAYGATE_DATA_DIR.",
    );
  }
  return known.filter((name) => !applied.includes(name));
}

/** Reads the table of Kysely's `Migrator`, which itself first reads every column of every table. */
async function findAppliedMigrations(db: Db): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
    return rows.map(({ name }) => name);
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}
