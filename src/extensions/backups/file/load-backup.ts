import { Kysely, PostgresDialect, type PostgresPoolClient } from "kysely";
import type pg from "pg";
import type { Db } from "../../../platform/db/database.ts";
import { knownMigrations } from "../../../platform/db/find-pending-migrations.ts";
import { migrateWithin } from "../../../platform/db/migrate-database.ts";
import { makePartitions } from "../../../platform/db/partitions.ts";
import { copyIn } from "../../../platform/db/pg-copy.ts";
import type { Tables } from "../../../tables.ts";
import { DUMP_SESSION_SETTINGS, quoteColumns, quoteName } from "./dump-tables.ts";
import { BackupFileError } from "./encrypted-stream.ts";
import { type BackupHeader, readBackup, type TableRows } from "./read-backup.ts";
import type { ReportRowProgress } from "./write-backup.ts";

/** Sequences skip this many values: other systems may know ids that were issued after the backup. */
const NUMBERS_SKIPPED = 1_000_000;

export interface LoadBackupOptions {
  path: string;
  backupKey: string;
  onProgress?: ReportRowProgress;
}

/** Reads the whole file; throws BackupFileError unless it is complete, unaltered and of a known schema. */
export async function checkBackup({
  path,
  backupKey,
  onProgress,
}: LoadBackupOptions): Promise<BackupHeader & { secretCheck?: Buffer }> {
  let header: BackupHeader | undefined;
  let secretCheck: Buffer | undefined;
  for await (const part of readBackup(path, backupKey)) {
    if (!("rows" in part)) {
      header = part;
      requireKnownSchema(part);
      continue;
    }
    for await (const rows of part.rows) {
      if (part.table === "secret_check") secretCheck = sealedIn(part, rows[0]);
      onProgress?.(rows.length, "rows of the file checked");
    }
  }
  if (!header) throw new BackupFileError("The backup is empty.");
  return { ...header, ...(secretCheck && { secretCheck }) };
}

/** COPY's text format writes bytes as `\\x` and hexadecimal digits. */
function sealedIn({ columns }: TableRows, row: Buffer | undefined): Buffer {
  const field = String(row).trimEnd().split("\t")[columns.indexOf("sealed")] ?? "";
  return Buffer.from(field.slice(3), "hex");
}

function requireKnownSchema({ migrations, app_version }: BackupHeader): void {
  const known = knownMigrations();
  const unknown = migrations.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new BackupFileError(
    `A newer version of Waygate made this backup (${app_version}, schema ${unknown}). Restore it with that version.`,
  );
}

/** Whether the database has no tables yet. */
async function isEmptyDatabase(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in (current_schema(), 'sandbox') and c.relkind in ('r', 'p', 'v', 'S', 'm')
       and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e') limit 1`,
  );
  return rows.length === 0;
}

/**
 * Loads a backup into an empty database in one transaction, and checks the foreign keys of each row. In the
 * same transaction, `finish` runs after the migration to this version's schema.
 */
export async function loadBackup(
  client: pg.Client,
  order: LoadBackupOptions,
  finish: (db: Db, header: BackupHeader) => Promise<void> = async () => {},
): Promise<BackupHeader> {
  await client.query(`${DUMP_SESSION_SETTINGS}; set synchronous_commit = on`);
  await client.query("begin");
  try {
    if (!(await isEmptyDatabase(client)))
      throw new BackupFileError(
        "The database is not empty. Restore into a new one: another WAYGATE_DATA_DIR, or --database-url.",
      );
    const db = onOneConnection(client);
    const header = await loadTables(client, db, order);
    await migrateWithin(db);
    await finish(db, header);
    await client.query("commit");
    return header;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

async function loadTables(
  client: pg.Client,
  db: Db,
  { path, backupKey, onProgress }: LoadBackupOptions,
): Promise<BackupHeader> {
  let header: BackupHeader | undefined;
  for await (const part of readBackup(path, backupKey)) {
    if ("rows" in part) {
      const columns = quoteColumns(part.columns);
      await copyIn(
        client,
        `copy ${quoteName(part.table)} (${columns}) from stdin`,
        joined(part.rows, onProgress),
      );
      continue;
    }
    header = part;
    requireKnownSchema(header);
    await prepareTables(client, db, header);
  }
  if (!header) throw new BackupFileError("The backup is empty.");
  await switchTriggers(client, header, "enable");
  await raiseSequences(client, header);
  return header;
}

async function* joined(rows: AsyncIterable<Buffer[]>, report?: ReportRowProgress): AsyncGenerator<Buffer> {
  for await (const some of rows) {
    report?.(some.length, "rows restored");
    yield Buffer.concat(some);
  }
}

/** Creates the schema of the backup, without the rows that its migrations insert. */
async function prepareTables(client: pg.Client, db: Db, header: BackupHeader): Promise<void> {
  await migrateWithin(db, header.migrations.at(-1));
  await makePartitions(db, header.partitions);
  await switchTriggers(client, header, "disable");
  for (const table of [...header.tables].reverse()) await client.query(`delete from ${quoteName(table)}`);
}

/** The backup already contains the rows that triggers wrote. */
async function switchTriggers(
  client: pg.Client,
  header: BackupHeader,
  what: "enable" | "disable",
): Promise<void> {
  for (const table of header.tables)
    await client.query(`alter table ${quoteName(table)} ${what} trigger user`);
}

async function raiseSequences(client: pg.Client, { sequences }: BackupHeader): Promise<void> {
  for (const [name, last] of Object.entries(sequences)) {
    await client.query(
      `select setval($1::regclass, least($2::bigint, seqmax)) from pg_sequence where seqrelid = $1::regclass`,
      [quoteName(name), last + NUMBERS_SKIPPED],
    );
  }
}

/** A query builder on one connection, whose transaction the caller controls. */
function onOneConnection(client: pg.Client): Db {
  const poolClient: PostgresPoolClient = { query: client.query.bind(client), release() {} };
  const pool = { connect: async () => poolClient, end: async () => {} };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
