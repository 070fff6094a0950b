import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import type pg from "pg";
import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/db/database.ts";
import { faultPoint } from "../../platform/fault-point.ts";
import { makeDirectory } from "../../platform/files/make-directory.ts";
import type { Log } from "../../platform/log/log.ts";
import { isDiskFull } from "../../platform/media/temporary-file.ts";
import { backupKeyId } from "./file/encrypted-stream.ts";
import { type BackupVerification, verifyBackup } from "./file/verify-backup.ts";
import {
  type ReportRowProgress,
  type WrittenBackup,
  withConnection,
  writeBackup,
} from "./file/write-backup.ts";

const RETAINED = { day: 7, week: 4, month: 6 } as const;

const DAY_MS = 86_400_000;

interface DatedBackup {
  id: string;
  created_at: Date;
}

/** What this node needs to make backups. */
export interface BackupDeps {
  db: Db;
  /** URL of the same database, since a backup opens its own connections. */
  url: string;
  node: string;
  directory: string;
  backupKey: string;
  version: string;
  /** The non-secret settings. */
  settings: Readonly<Record<string, unknown>>;
  log: Log;
  clock: Clock;
  /** Progress callback of a command. */
  onProgress?: ReportRowProgress;
}

const LOCK = "hashtext('waygate backup')";
const FAILED_ARE_KEPT_DAYS = 30;
/** A draft that has not changed for this long is abandoned. */
const DRAFT_IS_LEFT_MS = 3_600_000;

/** Makes the requested backup and records the result; does nothing if the backup has already started. */
export async function runBackup(deps: BackupDeps, id: string, signal: AbortSignal): Promise<void> {
  await withConnection(deps.url, "waygate backup", async (client) => {
    if (!(await tryLock(client))) return fail(deps.db, id, "Another backup was being made.");
    await failInterrupted(deps.db);
    await dropLeftOvers(deps);
    if (!(await begin(deps, id))) return;
    await make(deps, id, signal).catch(async (error: unknown) => {
      if (signal.aborted) throw error;
      if (deps.log.isLevelEnabled("error")) deps.log.error({ err: error }, "a backup failed");
      await fail(deps.db, id, reasonOf(error));
    });
    await deleteOldBackups(deps);
  });
}

/** Marks the interrupted backups of killed processes as failed. */
export async function failInterruptedBackups(
  deps: Pick<BackupDeps, "db" | "url" | "directory" | "clock">,
): Promise<void> {
  const { db, url } = deps;
  const running = await db.selectFrom("backup").select("id").where("status", "=", "running").execute();
  if (running.length === 0) return;
  await withConnection(url, "waygate backup", async (client) => {
    if (!(await tryLock(client))) return;
    await failInterrupted(db);
    await dropLeftOvers(deps);
  });
}

/** The lock lasts until the connection closes, so only one backup runs at a time on all nodes. */
async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ is_locked: boolean }>(
    `select pg_try_advisory_lock(${LOCK}) as is_locked`,
  );
  return rows[0]?.is_locked === true;
}

/** The caller holds the lock, so no other backup runs. */
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
  await makeDirectory(deps.directory);
  const at = deps.clock.now().toISOString().slice(0, 19).replaceAll(":", "-");
  const file = `waygate-${at}Z-${suffixOf(id)}.backup`;
  const path = join(deps.directory, file);
  const { written, verification } = await createVerifiedBackup(deps, { id, path, signal });
  faultPoint("backup:before-record");
  const isRecorded = await record(deps.db, id, file, written, verification);
  if (!isRecorded) await rm(path, { force: true });
}

/** Relates a file to its backup: the end of the id, which is part of the file name. */
function suffixOf(id: string): string {
  return id.slice(-6);
}

/** Deletes leftovers of killed processes: files of failed backups, and abandoned drafts. */
async function dropLeftOvers({
  db,
  directory,
  clock,
}: Pick<BackupDeps, "db" | "directory" | "clock">): Promise<void> {
  const failed = await db.selectFrom("backup").select("id").where("status", "=", "failed").execute();
  const suffixes = new Set(failed.map(({ id }) => suffixOf(id)));
  for (const name of await readdir(directory).catch(() => [])) {
    const [, suffix = "", part] = /^waygate-.+-(\w{6})\.backup(\.part)?$/.exec(name) ?? [];
    const path = join(directory, name);
    if (suffixes.has(suffix) || (part !== undefined && (await isOld(path, clock))))
      await rm(path, { force: true });
  }
}

async function isOld(path: string, clock: Clock): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && found.mtimeMs < clock.now().getTime() - DRAFT_IS_LEFT_MS;
}

/** Writes a backup to `path` and verifies it by restoring it. A bad backup leaves no file. */
export async function createVerifiedBackup(
  { url, backupKey, version, settings, onProgress }: Omit<BackupDeps, "db" | "node" | "directory" | "log">,
  { id, path, signal }: { id: string; path: string; signal: AbortSignal },
): Promise<{ written: WrittenBackup; verification: Exclude<BackupVerification, { result: "bad" }> }> {
  const order = { id, url, path, backupKey, app_version: version, settings, signal, onProgress };
  const written = await writeBackup(order);
  try {
    const verification = await verifyBackup(url, { path, backupKey, onProgress }, written);
    if (verification.result === "bad") throw new Error(verification.reason);
    return { written, verification };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Returns false if the backup was abandoned meanwhile. */
async function record(
  db: Db,
  id: string,
  file: string,
  { size, checksum, tally, head }: WrittenBackup,
  verification: BackupVerification,
): Promise<boolean> {
  const isGood = verification.result === "good";
  const rows = Object.fromEntries(Object.entries(tally).map(([table, counts]) => [table, counts.rows]));
  const { numUpdatedRows } = await db
    .updateTable("backup")
    .set({
      file,
      size,
      checksum,
      rows: JSON.stringify(rows),
      schema_version: head.migrations.at(-1) ?? null,
      status: isGood ? "verified" : "unverified",
      reason: isGood ? null : verification.reason,
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

function reasonOf(error: unknown): string {
  if (isDiskFull(error))
    return "The backup directory was full. Free disk space, or set WAYGATE_BACKUP_DIR to a larger disk.";
  return error instanceof Error ? error.message : String(error);
}

/** Deletes expired backups whose file this node can reach, and the rows of old failures. */
async function deleteOldBackups({ db, node, directory, clock }: BackupDeps): Promise<void> {
  const good = await db
    .selectFrom("backup")
    .select(["id", "created_at", "file", "node"])
    .where("status", "in", ["verified", "unverified"])
    .execute();
  for (const { id, file, ...backup } of chooseBackupsToDelete(good, clock.now())) {
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

/**
 * Keeps all backups of the last 24 hours, and the newest of each of the last 7 days, 4 weeks and 6 months
 * with a backup. Days are UTC; weeks begin on Monday.
 */
export function chooseBackupsToDelete<Backup extends DatedBackup>(
  backups: readonly Backup[],
  now: Date,
): Backup[] {
  const newestFirst = [...backups].sort((a, b) => b.created_at.getTime() - a.created_at.getTime());
  const retained = new Set<Backup>();
  for (const [span, count] of Object.entries(RETAINED)) {
    const firsts = new Map<string, Backup>();
    for (const backup of newestFirst) {
      const name = nameOf(backup.created_at, span as keyof typeof RETAINED);
      if (!firsts.has(name)) firsts.set(name, backup);
    }
    for (const backup of [...firsts.values()].slice(0, count)) retained.add(backup);
  }
  const isYoung = ({ created_at }: Backup) => created_at.getTime() > now.getTime() - DAY_MS;
  return newestFirst.filter((backup) => !retained.has(backup) && !isYoung(backup));
}

function nameOf(at: Date, span: keyof typeof RETAINED): string {
  if (span === "day") return at.toISOString().slice(0, 10);
  if (span === "month") return at.toISOString().slice(0, 7);
  // 1 January 1970 was a Thursday.
  return String(Math.floor((at.getTime() / DAY_MS + 3) / 7));
}
