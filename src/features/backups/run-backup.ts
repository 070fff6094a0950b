import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import type pg from "pg";
import type { Db } from "../../platform/db.ts";
import type { Log } from "../../platform/log.ts";
import { isFull } from "../../platform/scratch-file.ts";
import { chooseExpired } from "./retention.ts";
import { backupKeyId } from "./sealed-stream.ts";
import { type Verdict, verifyBackup } from "./verify-backup.ts";
import { type WrittenBackup, withConnection, writeBackup } from "./write-backup.ts";

/** Where and with what this node makes backups. */
export interface BackupDeps {
  db: Db;
  /** Of the same database: a backup has connections of its own. */
  url: string;
  node: string;
  directory: string;
  backupKey: string;
  version: string;
  /** Those that are no secrets. */
  settings: Readonly<Record<string, unknown>>;
  log: Log;
}

const LOCK = "hashtext('waygate backup')";
const FAILED_ARE_KEPT_DAYS = 30;
/** Nobody writes to a draft any more that has not changed for so long. */
const DRAFT_IS_LEFT_MS = 3_600_000;

/** Makes the backup that this row asks for and writes down how it ended; does nothing for a row that has been begun. */
export async function runBackup(deps: BackupDeps, id: string, signal: AbortSignal): Promise<void> {
  await withConnection(deps.url, "waygate backup", async (client) => {
    if (!(await takeLock(client))) return fail(deps.db, id, "Another backup was being made.");
    await failInterrupted(deps.db);
    if (!(await begin(deps, id))) return;
    await make(deps, id, signal).catch(async (error: unknown) => {
      if (signal.aborted) throw error;
      if (deps.log.isLevelEnabled("error")) deps.log.error({ err: error }, "a backup failed");
      await fail(deps.db, id, inWords(error));
    });
    await expireBackups(deps);
  });
}

/** Marks what a process that was killed has left behind. */
export async function sweepBackups({ db, url }: Pick<BackupDeps, "db" | "url">): Promise<void> {
  const running = await db.selectFrom("backup").select("id").where("status", "=", "running").execute();
  if (running.length === 0) return;
  await withConnection(url, "waygate backup", async (client) => {
    if (await takeLock(client)) await failInterrupted(db);
  });
}

/** Held as long as the connection lasts: one backup is made at a time, whoever makes it. */
async function takeLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select pg_try_advisory_lock(${LOCK}) as taken`);
  return rows[0]?.taken === true;
}

/** For whoever holds the lock: nobody else can be at it. */
async function failInterrupted(db: Db): Promise<void> {
  await sql`
    update backup set status = 'failed', reason = 'The process that made it ended.', file = null, finished_at = now()
    where status = 'running' and (started_at is not null
      or (trigger = 'command' and created_at < now() - interval '10 minutes'))`.execute(db);
}

async function begin({ db, node, backupKey, version }: BackupDeps, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("backup")
    .set({ started_at: sql<Date>`now()`, node, key_id: backupKeyId(backupKey), app_version: version })
    .where("id", "=", id)
    .where("status", "=", "running")
    .where("started_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function make(deps: BackupDeps, id: string, signal: AbortSignal): Promise<void> {
  await mkdir(deps.directory, { recursive: true, mode: 0o700 });
  await dropDrafts(deps.directory);
  const file = `waygate-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}Z-${id.slice(-6)}.backup`;
  const path = join(deps.directory, file);
  const { written, verdict } = await makeBackup(deps, { id, path, signal });
  const isRecorded = await record(deps.db, id, file, written, verdict);
  if (!isRecorded) await rm(path, { force: true });
}

/** Of processes that were killed. */
async function dropDrafts(directory: string): Promise<void> {
  const drafts = (await readdir(directory)).filter((name) => name.endsWith(".backup.part"));
  for (const name of drafts) {
    const { mtimeMs } = await stat(join(directory, name));
    if (mtimeMs < Date.now() - DRAFT_IS_LEFT_MS) await rm(join(directory, name), { force: true });
  }
}

/** Writes a backup to `path` and checks it by restoring it; one that is not what it should be leaves no file. */
export async function makeBackup(
  { url, backupKey, version, settings }: Omit<BackupDeps, "db" | "node" | "directory" | "log">,
  { id, path, signal }: { id: string; path: string; signal: AbortSignal },
): Promise<{ written: WrittenBackup; verdict: Exclude<Verdict, { verdict: "bad" }> }> {
  const written = await writeBackup({ id, url, path, backupKey, app_version: version, settings, signal });
  try {
    const verdict = await verifyBackup(url, { path, backupKey }, written);
    if (verdict.verdict === "bad") throw new Error(verdict.reason);
    return { written, verdict };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Answers false when it has been given up meanwhile. */
async function record(
  db: Db,
  id: string,
  file: string,
  { size, checksum, tally, head }: WrittenBackup,
  verdict: Verdict,
): Promise<boolean> {
  const isGood = verdict.verdict === "good";
  const rows = Object.fromEntries(Object.entries(tally).map(([table, counts]) => [table, counts.rows]));
  const { numUpdatedRows } = await db
    .updateTable("backup")
    .set({
      ...{ file, size, checksum, rows: JSON.stringify(rows), schema_version: head.migrations.at(-1) ?? null },
      status: isGood ? "verified" : "unverified",
      reason: isGood ? null : verdict.reason,
      finished_at: sql<Date>`now()`,
      verified_at: isGood ? sql<Date>`now()` : null,
    })
    .where("id", "=", id)
    .where("status", "=", "running")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function fail(db: Db, id: string, reason: string): Promise<void> {
  await db
    .updateTable("backup")
    .set({ status: "failed", reason, finished_at: sql<Date>`now()` })
    .where("id", "=", id)
    .where("status", "=", "running")
    .execute();
}

function inWords(error: unknown): string {
  if (isFull(error)) return "There was no room left in the backup directory.";
  return error instanceof Error ? error.message : String(error);
}

/** Removes the files that retention lets go, of those that this node reaches, and old failures from the list. */
async function expireBackups({ db, node, directory }: BackupDeps): Promise<void> {
  const good = await db
    .selectFrom("backup")
    .select(["id", "created_at", "file", "node"])
    .where("status", "in", ["verified", "unverified"])
    .execute();
  for (const { id, file, ...backup } of chooseExpired(good, new Date())) {
    const path = join(directory, file ?? "");
    const isHere = backup.node === node || (await stat(path).catch(() => undefined)) !== undefined;
    if (!isHere) continue;
    if (file !== null) await rm(path, { force: true });
    await db.deleteFrom("backup").where("id", "=", id).execute();
  }
  await sql`
    delete from backup where status = 'failed'
      and created_at < now() - ${FAILED_ARE_KEPT_DAYS} * interval '1 day'`.execute(db);
}
