import { Migrator } from "kysely";
import { migrations } from "../../../migrations/all.ts";
import type { Db } from "./database.ts";

/** The migrations of this version that the database does not have yet. */
export async function findPendingMigrations(db: Db): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const known = await migrator.getMigrations();
  return known.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name);
}
