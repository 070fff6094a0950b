import { sql } from "kysely";
import { migrations } from "../../../migrations/all.ts";
import { type Db, isMissingTable } from "./database.ts";

/** The names of all migrations of this version, in order. */
export const KNOWN_MIGRATIONS: readonly string[] = Object.keys(migrations).sort();

/** The migrations of this version that the database does not have yet, in order. */
export async function findPendingMigrations(db: Db): Promise<string[]> {
  const applied = new Set(await findAppliedMigrations(db));
  return KNOWN_MIGRATIONS.filter((name) => !applied.has(name));
}

/** Reads the table of Kysely's `Migrator`, which itself first reads every column of every table. */
async function findAppliedMigrations(db: Db): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    return rows.map(({ name }) => name);
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}
