import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { z } from "zod";
import { type Db, openDatabase } from "../../platform/db/database.ts";
import { makeDirectory } from "../../platform/files/make-directory.ts";
import { BackupFileError } from "./file/encrypted-stream.ts";

const erasure = z.object({
  id: z.number(),
  account_id: z.number(),
  scope: z.string(),
  subject: z.record(z.string(), z.unknown()),
  created_at: z.coerce.date(),
});

/** One erasure, by ids only. */
export type LoggedErasure = z.output<typeof erasure>;

/** In the backup directory, so that it survives the loss of the database. */
const ERASURES_FILE = "erasures.jsonl";
const AT_ONCE = 100;
const NO_SUCH_TABLE = "42P01";

/** Copies the erasure log into the backup directory, unless the copy is complete. Returns the last id in the copy. */
export async function copyErasureLog(db: Db, directory: string, copiedUntil: number): Promise<number> {
  const { last } = await db
    .selectFrom("erasure_log")
    .select(({ fn }) => fn.max("id").as("last"))
    .executeTakeFirstOrThrow();
  if (last === null || last <= copiedUntil) return copiedUntil;
  const lines = (await readLog(db)).map((entry) => `${JSON.stringify(entry)}\n`);
  const path = join(directory, ERASURES_FILE);
  await makeDirectory(directory);
  await writeFile(`${path}.part`, lines.join(""), { mode: 0o600 });
  await rename(`${path}.part`, path);
  return last;
}

function readLog(db: Db): Promise<LoggedErasure[]> {
  return db
    .selectFrom("erasure_log")
    .select(["id", "account_id", "scope", "subject", "created_at"])
    .orderBy("id")
    .$castTo<LoggedErasure>()
    .execute();
}

/** Erasures from a file, or from the previous database, given by URL. Throws BackupFileError. */
export async function readErasures(from: string): Promise<LoggedErasure[]> {
  return /^postgres(ql)?:\/\//.test(from) ? readFromDatabase(from) : parse(await readText(from), from);
}

/** Erasures from the file beside a backup; empty if that file does not exist. */
export async function readErasureCopy(directory: string): Promise<LoggedErasure[]> {
  const path = join(directory, ERASURES_FILE);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw unreadable(path, error);
  });
  return parse(text, path);
}

async function readFromDatabase(url: string): Promise<LoggedErasure[]> {
  const database = openDatabase(url, { max: 1, application_name: "waygate restore" });
  try {
    return await readLog(database.db);
  } catch (error) {
    // A version without this table has erased nothing.
    if ((error as { code?: string }).code === NO_SUCH_TABLE) return [];
    throw unreadable("the database given by --erasures", error as Error);
  } finally {
    await database.close();
  }
}

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: Error) => {
    throw unreadable(path, error);
  });
}

function parse(text: string, path: string): LoggedErasure[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  try {
    return lines.map((line) => erasure.parse(JSON.parse(line)));
  } catch (cause) {
    throw new BackupFileError(`${path} is not an erasure log of Waygate.`, { cause });
  }
}

function unreadable(what: string, cause: Error): BackupFileError {
  return new BackupFileError(`The erasures in ${what} cannot be read (${cause.message}).`, { cause });
}

/** Adds the erasures that the restored database lacks; `repeatErasures` carries them out. */
export async function addErasures(db: Db, erasures: readonly LoggedErasure[]): Promise<void> {
  await sql`
    insert into erasure_log (id, account_id, scope, subject, created_at, is_due)
    select id, account_id, scope, subject, created_at, true
    from jsonb_to_recordset(${JSON.stringify(erasures)}::jsonb) as e
      (id bigint, account_id bigint, scope text, subject jsonb, created_at timestamptz)
    on conflict (id) do nothing`.execute(db);
}

/** Repeats the erasures whose data a restore brought back; safe to repeat after a crash. */
export async function repeatErasures(db: Db, repeat: (entry: LoggedErasure) => Promise<void>): Promise<void> {
  const due = await db
    .selectFrom("erasure_log")
    .select(["id", "account_id", "scope", "subject", "created_at"])
    .where("is_due", "=", true)
    .orderBy("id")
    .limit(AT_ONCE)
    .$castTo<LoggedErasure>()
    .execute();
  for (const entry of due) {
    await repeat(entry);
    await db.updateTable("erasure_log").set({ is_due: false }).where("id", "=", entry.id).execute();
  }
}
