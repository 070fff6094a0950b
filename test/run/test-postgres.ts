import { pino } from "pino";
import { openDatabase } from "../../src/platform/db/database.ts";
import { migrateDatabase } from "../../src/platform/db/migrate-database.ts";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../src/platform/embedded-postgres/embedded-postgres.ts";
import { unpackCluster } from "./cluster-cache.ts";
import { makeScratchDir, type ScratchDir } from "./scratch-dir.ts";

/** A PostgreSQL for tests: fast, and gone afterwards. */
export interface TestPostgres {
  /** A superuser's way in; `waygate_template` is in it, migrated and empty. */
  url: string;
  stop(): Promise<void>;
}

// Some files have half a dozen gateways at once, of twenty connections each, and three files run side by side.
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "500" };
/** Leaves a small write-ahead log behind, since every run copies it. */
const COMPACT = { min_wal_size: "32MB", max_wal_size: "48MB" };

/** With settings on top of the fast ones, which forgive no crash of the database. */
export async function startTestPostgres(more: Record<string, string> = {}): Promise<TestPostgres> {
  const { path, remove } = await makeScratchDir();
  try {
    await unpackCluster(path, makeCluster);
    const { url, stop } = await startPostgresIn(path, more);
    return { url, stop: () => stop().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A stopped cluster with the template, in a directory of its own. */
async function makeCluster(): Promise<ScratchDir> {
  const scratch = await makeScratchDir();
  try {
    const { url, stop } = await startPostgresIn(scratch.path, COMPACT);
    await makeTemplate(url).finally(stop);
    return scratch;
  } catch (error) {
    await scratch.remove();
    throw error;
  }
}

function startPostgresIn(dataDir: string, more: Record<string, string>): Promise<EmbeddedPostgres> {
  const log = pino({ level: "silent" });
  return startEmbeddedPostgres({ dataDir, log, settings: { ...SETTINGS, ...more } });
}

async function makeTemplate(url: string): Promise<void> {
  const admin = openDatabase(url, { max: 1 });
  await admin.pool.query("create database waygate_template");
  await admin.close();
  const template = openDatabase(url.replace(/\/\w+$/, "/waygate_template"), { max: 1 });
  await migrateDatabase(template.db);
  await template.close();
}
