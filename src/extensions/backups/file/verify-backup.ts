import { randomBytes } from "node:crypto";
import type pg from "pg";
import type { DumpedTable } from "./dump-tables.ts";
import { DUMP_SESSION_SETTINGS, digestTables } from "./dump-tables.ts";
import { type LoadBackupOptions, loadBackup } from "./load-backup.ts";
import type { WrittenBackup } from "./write-backup.ts";
import { withConnection } from "./write-backup.ts";

/** `unable`: not checked, for example because the database role may not create a scratch database. */
export type BackupVerification = { result: "good" } | { result: "bad" | "unable"; reason: string };

const NO_RIGHT = "42501";

/**
 * Restores a backup into a scratch database of the same server, compares the count and hash of every table,
 * and drops the database.
 */
export async function verifyBackup(
  url: string,
  order: LoadBackupOptions,
  written: Pick<WrittenBackup, "tables" | "tally">,
): Promise<BackupVerification> {
  return withConnection(url, "waygate backup", async (admin) => {
    const prefix = await scratchPrefix(admin);
    await dropLeftOvers(admin, prefix);
    const name = `${prefix}${randomBytes(6).toString("hex")}`;
    try {
      await admin.query(`create database ${name} template template0`);
    } catch (error) {
      return { result: "unable", reason: whyNot(error) };
    }
    try {
      return await compare(withName(url, name), order, written);
    } finally {
      await dropDatabase(admin, name);
    }
  });
}

/** No other deployment on this server uses this prefix. */
async function scratchPrefix(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query<{ oid: number }>(
    "select oid from pg_database where datname = current_database()",
  );
  return `waygate_scratch_${rows[0]?.oid}_`;
}

/** Drops scratch databases of killed processes; only one backup of a database runs at a time. */
export async function dropLeftOvers(admin: pg.Client, prefix: string): Promise<void> {
  const { rows } = await admin.query<{ datname: string }>(
    "select datname from pg_database where starts_with(datname, $1)",
    [prefix],
  );
  for (const { datname } of rows) await dropDatabase(admin, datname);
}

/**
 * Ends the role's own connections to the database and drops it. Only a superuser may use `with (force)` while autovacuum
 * works in it; without that, PostgreSQL ends autovacuum itself.
 */
async function dropDatabase(admin: pg.Client, name: string): Promise<void> {
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename = current_user",
    [name],
  );
  await admin.query(`drop database if exists ${name}`);
}

function whyNot(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  return code === NO_RIGHT
    ? "It was not verified: the role of DATABASE_URL may not create databases (alter role ... createdb)."
    : `It was not verified: no temporary database could be created (${message}).`;
}

async function compare(
  scratch: string,
  order: LoadBackupOptions,
  { tables, tally }: Pick<WrittenBackup, "tables" | "tally">,
): Promise<BackupVerification> {
  return withConnection(scratch, "waygate backup", async (client) => {
    await loadBackup(client, order);
    await client.query(DUMP_SESSION_SETTINGS);
    const restored = await digestTables(client, tables, order.onProgress);
    const wrong = tables.filter(({ name }) => !isSame(tally[name], restored[name]));
    return wrong.length === 0 ? { result: "good" } : { result: "bad", reason: differs(wrong) };
  });
}

function isSame(one?: { rows: number; digest: string }, other?: { rows: number; digest: string }): boolean {
  return one !== undefined && one.rows === other?.rows && one.digest === other.digest;
}

function differs(tables: readonly DumpedTable[]): string {
  return `Restored, these tables are not as they were written: ${tables.map(({ name }) => name).join(", ")}.`;
}

function withName(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}
