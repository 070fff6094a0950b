import { type RawBuilder, sql } from "kysely";
import { type Db, isLockTimeout, isMissingTable, readDatabaseTime, type Trx } from "./database.ts";
import { PREPARED_STATEMENT } from "./prepared-statement.ts";

/** Tables partitioned by the UTC day of `created_at` and pruned by dropping whole days. */
export const PARTITIONED = ["event", "delivery", "attempt", "connection_log", "api_log"] as const;

type Partitioned = (typeof PARTITIONED)[number];

const DAYS_AHEAD = 8;
const DAY_MS = 86_400_000;
const LOCK_KEY = 7_241_001;

/**
 * Creates missing partitions from yesterday to 8 days ahead, and the default one; `now` defaults to the
 * database's clock. Leaves a table for the next run if its lock is not available within 2 s.
 */
export async function ensurePartitions(db: Db, now?: Date): Promise<void> {
  const today = startOfDay(now ?? (await readDatabaseTime(db)));
  const days = Array.from({ length: DAYS_AHEAD + 2 }, (_, i) => new Date(today + (i - 1) * DAY_MS));
  const present = new Set(await partitionsOf(db, PARTITIONED));
  for (const table of PARTITIONED) {
    const needed = [`${table}_default`, ...days.map((day) => partitionName(table, day))];
    if (needed.every((name) => present.has(name))) continue;
    await withTableLock(db, (trx) => ensureDays(trx, table, days));
  }
}

/** Drops every day that ended at or before the start of the UTC day of `date`; returns the names dropped. */
export async function dropPartitionsBefore(
  db: Db,
  date: Date,
  tables: readonly Partitioned[] = PARTITIONED,
): Promise<string[]> {
  const limit = new Date(startOfDay(date));
  const dropped: string[] = [];
  for (const table of tables) {
    await withTableLock(db, async (trx) => {
      const old = (await partitionsOf(trx, [table])).filter((name) => isDayBefore(table, name, limit));
      for (const name of old) await sql`drop table ${sql.table(name)}`.execute(trx);
      await sql`delete from ${sql.table(`${table}_default`)} where created_at < ${limit}`.execute(trx);
      dropped.push(...old);
    });
  }
  return dropped;
}

/** The tables in which a statement finds rows of certain times. */
export interface PartitionRange {
  from: Date;
  to: Date;
  /** The partition of the day, or the whole table: it then needs `created_at between` these two. */
  table(name: Partitioned): RawBuilder<unknown>;
  /** `PREPARED_STATEMENT` if the tables are partitions: a kept plan for a whole table would lock every day of it. */
  mark: RawBuilder<unknown>;
}

/**
 * Runs a statement on rows of these times, at least one. It runs on the partitions of their day if they have one day in
 * common and its partitions exist, and on the whole tables otherwise. Do not call it in a transaction.
 */
export async function withPartitions<Result>(
  times: readonly Date[],
  run: (range: PartitionRange) => Promise<Result>,
): Promise<Result> {
  const all = times.map((time) => time.getTime());
  const [from, to] = [new Date(Math.min(...all)), new Date(Math.max(...all))];
  if (startOfDay(from) === startOfDay(to)) {
    try {
      const table = (name: Partitioned) => sql.table(partitionName(name, from));
      return await run({ from, to, table, mark: PREPARED_STATEMENT });
    } catch (error) {
      // Rows of a day without a partition are in the default one.
      if (!isMissingTable(error)) throw error;
    }
  }
  return run({ from, to, table: (name) => sql.table(name), mark: sql`` });
}

/** Creates partitions that have these names in another database. */
export async function makePartitions(db: Db | Trx, names: readonly string[]): Promise<void> {
  for (const table of PARTITIONED) {
    for (const name of names) {
      const day = dayOf(table, name);
      if (day === undefined && name !== `${table}_default`) continue;
      await sql`
        create table ${sql.table(name)} partition of ${sql.table(table)} ${day ? boundsOf(day) : sql`default`}`.execute(
        db,
      );
    }
  }
}

function boundsOf(day: Date): RawBuilder<unknown> {
  const [from, to] = [day, new Date(day.getTime() + DAY_MS)].map((at) => at.toISOString());
  return sql`for values from (${sql.lit(from)}) to (${sql.lit(to)})`;
}

function dayOf(table: Partitioned, name: string): Date | undefined {
  if (!name.startsWith(`${table}_`)) return undefined;
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(name.slice(table.length + 1)) ?? [];
  return year === undefined ? undefined : new Date(`${year}-${month}-${day}T00:00:00Z`);
}

async function withTableLock(db: Db, work: (trx: Trx) => Promise<void>): Promise<void> {
  try {
    await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(${LOCK_KEY})`.execute(trx);
      // Every other statement queues behind a waiting table lock, so the wait must be short.
      await sql`set local lock_timeout = '2s'`.execute(trx);
      await work(trx);
    });
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
  }
}

async function ensureDays(trx: Trx, table: Partitioned, days: Date[]): Promise<void> {
  const present = new Set(await partitionsOf(trx, [table]));
  const rest = `${table}_default`;
  if (!present.has(rest)) {
    await sql`create table ${sql.table(rest)} partition of ${sql.table(table)} default`.execute(trx);
  }
  const missing = days.filter((day) => !present.has(partitionName(table, day)));
  if (missing.length === 0) return;
  // No row may enter the default partition between the check and the attach.
  await sql`lock table ${sql.table(rest)} in access exclusive mode`.execute(trx);
  for (const day of missing) await addDay(trx, table, day);
}

async function addDay(trx: Trx, table: Partitioned, day: Date): Promise<void> {
  const [from, to] = [day, new Date(day.getTime() + DAY_MS)];
  const { rows } = await sql`
    select from ${sql.table(`${table}_default`)} where created_at >= ${from} and created_at < ${to} limit 1`.execute(
    trx,
  );
  if (rows.length > 0) return;
  const name = sql.table(partitionName(table, day));
  // Attaching keeps the table writable; `create ... partition of` would block writers.
  await sql`create table ${name} (like ${sql.table(table)} including defaults including constraints)`.execute(
    trx,
  );
  await sql`
    alter table ${sql.table(table)} attach partition ${name} ${boundsOf(day)}`.execute(trx);
}

async function partitionsOf(db: Db, tables: readonly Partitioned[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = any(${tables}::text[]::regclass[]) order by c.relname`.execute(db);
  return rows.map((row) => row.name);
}

function isDayBefore(table: Partitioned, name: string, limit: Date): boolean {
  const day = name.slice(table.length + 1);
  return /^\d{8}$/.test(day) && name < partitionName(table, limit);
}

function partitionName(table: Partitioned, day: Date): string {
  return `${table}_${day.toISOString().slice(0, 10).replaceAll("-", "")}`;
}

function startOfDay(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS) * DAY_MS;
}
