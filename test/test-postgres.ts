import { pino } from "pino";
import { openDatabase } from "../src/platform/db/database.ts";
import { migrateDatabase } from "../src/platform/db/migrate-database.ts";
import { startEmbeddedPostgres } from "../src/platform/embedded-postgres/embedded-postgres.ts";
import { makeScratchDir } from "./scratch-dir.ts";

/** A PostgreSQL for tests: fast, and gone afterwards. */
export interface TestPostgres {
  /** A superuser's way in; `waygate_template` is in it, migrated and empty. */
  url: string;
  stop(): Promise<void>;
}

// Some files have half a dozen gateways at once, of twenty connections each, and three files run side by side.
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "500" };

/** With settings on top of the fast ones, which forgive no crash of the database. */
export async function startTestPostgres(more: Record<string, string> = {}): Promise<TestPostgres> {
  const { path: dataDir, remove } = await makeScratchDir();
  try {
    const log = pino({ level: "silent" });
    const settings = { ...SETTINGS, ...more };
    const { url, stop } = await startEmbeddedPostgres({ dataDir, log, settings });
    await makeTemplate(url);
    return { url, stop: () => stop().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function makeTemplate(url: string): Promise<void> {
  const admin = openDatabase(url, { max: 1 });
  await admin.pool.query("create database waygate_template");
  await admin.close();
  const template = openDatabase(url.replace(/\/\w+$/, "/waygate_template"), { max: 1 });
  await migrateDatabase(template.db);
  await template.close();
}
