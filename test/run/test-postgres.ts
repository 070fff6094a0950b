import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { pino } from "pino";
import { openDatabase } from "../../src/platform/db/database.ts";
import { migrateDatabase } from "../../src/platform/db/migrate-database.ts";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
  superuserUrl,
} from "../../src/platform/embedded-postgres/embedded-postgres.ts";
import { packageRoot } from "../../src/platform/package-version.ts";
import { makeScratchDir, type ScratchDir } from "./scratch-dir.ts";

/** A fast, temporary PostgreSQL for tests. */
export interface TestPostgres {
  /** URL for the gateway's role, which is no superuser. Contains `waygate_template`, migrated and empty. */
  url: string;
  stop(): Promise<void>;
}

// Some files run half a dozen gateways with twenty connections each, and three files run in parallel.
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "500" };
/** Keeps the WAL small, because every run copies it. */
const COMPACT = { min_wal_size: "32MB", max_wal_size: "48MB" };

/** `more` overrides the fast settings, which do not survive a crash of the database. */
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

/** A stopped cluster with the template, in its own directory. */
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
  await openForTests(superuserUrl(url));
}

/** Rights that tests need and the gateway does not: read table files, forge audit rows, create roles. */
async function openForTests(superuser: string): Promise<void> {
  const server = openDatabase(superuser, { max: 1 });
  await server.pool.query(`
    alter role waygate createrole;
    alter role waygate set createrole_self_grant = 'set, inherit';
    grant pg_checkpoint, pg_read_server_files, pg_read_all_settings to waygate;
    grant set on parameter session_replication_role to waygate`);
  await server.close();
  const template = openDatabase(superuser.replace(/\/\w+$/, "/waygate_template"), { max: 1 });
  await template.pool.query("grant execute on function pg_read_binary_file(text) to waygate");
  await template.close();
}

const ROOT = packageRoot();
const CACHE = join(ROOT, "node_modules/.cache/waygate");
/** Sources of a new cluster and its migrated database. */
const SOURCES = ["migrations", "src/platform/db", "src/platform/embedded-postgres"];
/** Another run may still use an older archive or write a new one. */
const STALE_MS = 3_600_000;

/**
 * Unpacks a stopped cluster into an empty data directory. `make` creates it if none is cached for this day and these
 * sources, because it contains the day's partitions.
 */
export async function unpackCluster(dataDir: string, make: () => Promise<ScratchDir>): Promise<void> {
  const archive = join(CACHE, `cluster-${await keyOfCluster()}.tar`);
  if (!(await isPresent(archive))) {
    const { path, remove } = await make();
    await pack(path, archive).finally(remove);
  }
  await tar("-xpf", archive, "-C", dataDir);
}

/** Differs for each day, version, owner and set of sources. */
async function keyOfCluster(): Promise<string> {
  const day = new Date().toISOString().slice(0, 10);
  const hash = createHash("sha256").update(
    JSON.stringify([day, process.platform, process.arch, process.getuid?.()]),
  );
  hash.update(await readFile(join(ROOT, "package-lock.json")));
  for (const folder of SOURCES) {
    for (const name of (await readdir(join(ROOT, folder), { recursive: true })).sort()) {
      if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
      hash.update(name).update(await readFile(join(ROOT, folder, name)));
    }
  }
  return hash.digest("hex").slice(0, 16);
}

/** Writes the archive atomically. An interrupted run leaves a draft, which a later run removes. */
async function pack(dataDir: string, archive: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  await removeStaleArchives();
  const draft = `${archive}.${randomBytes(4).toString("hex")}`;
  await tar("-cf", draft, "-C", dataDir, "postgres");
  await rename(draft, archive);
}

async function removeStaleArchives(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const { mtimeMs } = await stat(join(CACHE, name)).catch(() => ({ mtimeMs: Date.now() }));
    if (mtimeMs < Date.now() - STALE_MS) await rm(join(CACHE, name), { force: true });
  }
}

/** Much faster than copying two thousand files, and preserves ownership. */
async function tar(...args: string[]): Promise<void> {
  await promisify(execFile)("tar", args);
}

async function isPresent(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
