import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { sql } from "kysely";
import { type LoggedErasure, readErasureCopy, readErasures } from "../../extensions/backups/erasure-log.ts";
import { checkBackup } from "../../extensions/backups/file/load-backup.ts";
import { decideHeldJobs, type HeldJobsAction, readHeldJobs } from "../../extensions/backups/held-jobs.ts";
import { backupDirectory, openBackups } from "../../extensions/backups/open-backups.ts";
import { addBackup } from "../../extensions/backups/request-backup.ts";
import { restoreBackup } from "../../extensions/backups/restore-backup.ts";
import { type BackupDeps, createVerifiedBackup, runBackup } from "../../extensions/backups/run-backup.ts";
import { type Config, type Env, readConfig } from "../../platform/config/config.ts";
import { findGeneratedKey, openDataDir } from "../../platform/config/data-dir.ts";
import { verifySecretCheck } from "../../platform/config/require-secret-key.ts";
import { openDatabase } from "../../platform/db/database.ts";
import { findRunningDatabase } from "../../platform/embedded-postgres/embedded-postgres.ts";
import { createLog } from "../../platform/log/log.ts";
import { createSecretBox } from "../../platform/secrets/secret-box.ts";
import { ulid } from "../../platform/ulid.ts";
import { CleanupStack } from "../../processes/cleanup-stack.ts";
import { openDatabases } from "../../processes/open-databases.ts";
import {
  rethrowAsStartError,
  StartError,
  throwDatabaseStartError,
  throwSettingError,
} from "../../processes/start-error.ts";
import { COMMAND_ACTOR, type CommandContext, withCommandContext } from "./command-database.ts";
import { startProgressPrinter } from "./progress-printer.ts";

/** Makes a backup now, in the backup directory or as the file `output`. Throws StartError if it fails. */
export async function runBackupCommand(env: Env, output: string | undefined): Promise<void> {
  await withCommandContext(env, async (store) => {
    const deps = await commandDeps(store);
    await (output === undefined ? backUp(deps) : backUpTo(deps, resolve(output)));
    if (!store.config.backupKey) {
      const key = `${resolve(store.config.dataDir)}/backup-key`;
      console.log(`It is encrypted with the key in ${key}: keep a copy of this key elsewhere.`);
    }
  });
}

function commandDeps({ config, database: { db, url } }: CommandContext): Promise<BackupDeps> {
  const dataDir = resolve(config.dataDir);
  return openBackups({
    config,
    dataDir,
    db,
    url,
    node: "command",
    log: createLog("silent"),
    onProgress: startProgressPrinter().advanceBy,
  }).catch(throwSettingError);
}

async function backUp(deps: BackupDeps): Promise<void> {
  const id = await addBackup(deps.db, COMMAND_ACTOR, "command").catch(rethrowAsStartError);
  await runBackup(deps, id, new AbortController().signal);
  const row = await deps.db.selectFrom("backup").selectAll().where("id", "=", id).executeTakeFirst();
  if (!row?.file) throw new StartError(`The backup failed: ${row?.reason ?? "its row was deleted"}`);
  report(`${deps.directory}/${row.file}`, row.size ?? 0, row.rows ?? {}, row.reason);
}

async function backUpTo(deps: BackupDeps, path: string): Promise<void> {
  if (await stat(path).catch(() => undefined)) throw new StartError(`${path} exists already.`);
  const order = { id: `bkp_${ulid()}`, path, signal: new AbortController().signal };
  const { written, verification } = await createVerifiedBackup(deps, order).catch(rethrowAsStartError);
  const rows = Object.fromEntries(Object.entries(written.tally).map(([table, { rows }]) => [table, rows]));
  report(path, written.size, rows, verification.result === "good" ? null : verification.reason);
}

function report(path: string, size: number, rows: Record<string, number>, reason: string | null): void {
  const count = Object.values(rows).reduce((all, one) => all + one, 0);
  console.log(`${path}: ${size} bytes, ${count} rows in ${Object.keys(rows).length} tables.`);
  console.log(
    reason ?? "It was restored into a temporary database, and every table matches what was written.",
  );
}

const MOST_URL_BYTES = 8192;
const LINE_END = 10;

export interface RestoreCommandOptions {
  /** URL of the empty database; `-` reads it from the first line of the input. By default from the settings. */
  databaseUrl?: string;
  /** A file, or the URL of the previous database. */
  erasures?: string;
}

/** Restores a backup into an empty database. Throws StartError without having changed anything. */
export async function runRestoreCommand(
  env: Env,
  file: string,
  options: RestoreCommandOptions,
  input: AsyncIterable<Uint8Array> = process.stdin,
): Promise<void> {
  const databaseUrl = await readDatabaseUrl(options, input);
  // The direct URL in the settings belongs to the database of the settings.
  const other = { DATABASE_URL: databaseUrl, WAYGATE_DATABASE_DIRECT_URL: undefined };
  const config = readConfig(databaseUrl ? { ...env, ...other } : env);
  const dataDir = resolve(config.dataDir);
  const path = resolve(file);
  if (!(await stat(path).catch(() => undefined))?.isFile()) throw new StartError(`There is no file ${path}.`);
  const backupKey = await requireKey(config.backupKey?.reveal(), dataDir, "backup-key", "WAYGATE_BACKUP_KEY");
  const order = { path, backupKey, onProgress: startProgressPrinter().advanceBy };
  const header = await checkBackup(order).catch(rethrowAsStartError);
  await requireSecretKeyOf(header.secretCheck, config, dataDir);
  const erasures = await gatherErasures(config, path, options.erasures).catch(rethrowAsStartError);
  await withEmptyStore(config, async (url, description) => {
    await restoreBackup(url, order, erasures).catch((error: unknown) => {
      if (isBackupError(error)) rethrowAsStartError(error);
      return throwDatabaseStartError(error, description);
    });
    await reportRestored(url, description, header.created_at);
  });
}

/** Other users of a machine can read a program's arguments, so a password in them causes a warning. */
async function readDatabaseUrl(
  { databaseUrl, erasures }: RestoreCommandOptions,
  input: AsyncIterable<Uint8Array>,
): Promise<string | undefined> {
  for (const value of [databaseUrl, erasures]) {
    if (!value || !URL.canParse(value) || new URL(value).password === "") continue;
    console.error(
      "Warning: other users of this machine can read a password that is given as an argument. Set DATABASE_URL, or pass `--database-url -` and write the address to standard input.",
    );
  }
  if (databaseUrl !== "-") return databaseUrl;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of input) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MOST_URL_BYTES || piece.includes(LINE_END)) break;
  }
  const [line = ""] = Buffer.concat(pieces).toString("utf8").split("\n");
  const url = line.trim();
  if (url === "" || bytes > MOST_URL_BYTES)
    throw new StartError(
      "`--database-url -` reads the address of the database from the first line of standard input.",
    );
  return url;
}

function isBackupError(error: unknown): boolean {
  return error instanceof Error && error.name === "BackupFileError";
}

async function requireKey(
  value: string | undefined,
  dataDir: string,
  name: "secret-key" | "backup-key",
  setting: string,
): Promise<string> {
  const key = value ?? (await findGeneratedKey(dataDir, name).catch(rethrowAsStartError));
  if (key !== undefined) return key;
  throw new StartError(
    `Set ${setting} to the key of the gateway that made the backup, or put its ${name} into ${dataDir}.`,
  );
}

/** Without that key the sealed data of the backup is lost: pairings, webhook secrets, audit log keys. */
async function requireSecretKeyOf(
  sealed: Buffer | undefined,
  { secretKey, secretKeySecond }: Config,
  dataDir: string,
): Promise<void> {
  const key = await requireKey(secretKey?.reveal(), dataDir, "secret-key", "WAYGATE_SECRET_KEY");
  try {
    if (sealed) verifySecretCheck(createSecretBox(key, secretKeySecond?.reveal()), sealed);
  } catch (cause) {
    throw new StartError(
      "The secret key is not the one that the secrets in this backup are encrypted with. Set WAYGATE_SECRET_KEY to that key.",
      { cause },
    );
  }
}

/**
 * Reads erasures from the operator's source, from beside the backup, and from the replaced embedded database.
 */
async function gatherErasures(
  config: Config,
  path: string,
  from: string | undefined,
): Promise<LoggedErasure[]> {
  const directories = new Set([dirname(path), backupDirectory(config, resolve(config.dataDir))]);
  const found = from === undefined ? [] : await readErasures(from);
  for (const directory of directories) found.push(...(await readErasureCopy(directory)));
  const old = config.databaseUrl && (await findRunningDatabase(config.dataDir).catch(() => undefined));
  if (old) found.push(...(await readErasures(old)));
  return found;
}

async function withEmptyStore(config: Config, work: (url: string, description: string) => Promise<void>) {
  const undo = new CleanupStack();
  try {
    const isExternal = config.databaseUrl !== undefined;
    const dataDir = isExternal ? undefined : await openDataDir(config.dataDir).catch(rethrowAsStartError);
    if (dataDir) undo.add(() => dataDir.release());
    const store = await openDatabases(config, dataDir?.path ?? "", createLog("silent"), undo);
    await work(store.database.url, store.description);
  } finally {
    await undo.run();
  }
}

async function reportRestored(url: string, description: string, made_at: string): Promise<void> {
  const database = openDatabase(url, { max: 1, application_name: "waygate restore" });
  try {
    const heldJobs = await readHeldJobs(database.db);
    const { rows } = await sql<{ files: number }>`
      select count(*) as files from blob where status = 'stored'`.execute(database.db);
    console.log(`Restored: ${description} now has the backup of ${made_at}.`);
    console.log(
      "Every instance is disconnected: connect the ones you want. All users have to sign in again.",
    );
    if (heldJobs && heldJobs.sends + heldJobs.deliveries + heldJobs.others > 0) {
      console.log(
        `On hold: ${heldJobs.sends} sends, ${heldJobs.deliveries} deliveries, ${heldJobs.others} others. ` +
          "Release or discard them: waygate restore --release, waygate restore --discard.",
      );
    }
    const files = rows[0]?.files ?? 0;
    if (files > 0)
      console.log(
        `${files} media files of its messages are not part of the backup: see docs/operation/backups.md.`,
      );
  } finally {
    await database.close();
  }
}

/** Decides about the jobs that a restored gateway holds; the gateway acts on it as soon as it runs. */
export async function runHeldJobsCommand(env: Env, action: HeldJobsAction): Promise<void> {
  await withCommandContext(env, async ({ database: { db } }) => {
    await decideHeldJobs(db, COMMAND_ACTOR, action).catch(rethrowAsStartError);
  });
  console.log(`The gateway ${action === "release" ? "sends and delivers" : "discards"} the jobs on hold.`);
}
