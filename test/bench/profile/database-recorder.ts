import { open, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import pg from "pg";
import { findPostgresHome } from "../../../src/platform/embedded-postgres/postgres-home.ts";

/** What PostgreSQL did during a load. */
export interface DatabaseProfile {
  seconds: number;
  commits: number;
  walBytes: number;
  /** Statements that waited for a lock longer than a tenth of a second. */
  lockWaits: number;
  /** The most expensive first. */
  statements: StatementFigures[];
  /** Plans of slow statements, with their values. */
  log: string;
}

export interface StatementFigures {
  text: string;
  calls: number;
  plans: number;
  meanPlanMs: number;
  meanExecMs: number;
  totalMs: number;
}

/** A data directory with a running PostgreSQL that has `PROFILE_SETTINGS`. */
export interface ProfiledDatabase {
  url: string;
  dataDir: string;
}

export const PROFILE_SETTINGS: Record<string, string> = {
  shared_preload_libraries: "pg_stat_statements,auto_explain",
  "pg_stat_statements.track_planning": "on",
  "auto_explain.log_min_duration": "5",
  "auto_explain.log_nested_statements": "on",
  log_lock_waits: "on",
  deadlock_timeout: "100ms",
};

const MOST_STATEMENTS = 30;

const STATEMENTS = `
  select regexp_replace(query, '\\s+', ' ', 'g') as text, calls::float8 as calls, plans::float8 as plans,
    mean_plan_time as "meanPlanMs", mean_exec_time as "meanExecMs", total_plan_time + total_exec_time as "totalMs"
  from pg_stat_statements
  where dbid = (select oid from pg_database where datname = current_database()) and query not like '%pg_stat_%'
  order by total_plan_time + total_exec_time desc limit ${MOST_STATEMENTS}`;

const COUNTERS = `
  select xact_commit::float8 as commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as "walBytes"
  from pg_stat_database where datname = current_database()`;

/** For a gateway that starts its PostgreSQL itself; takes effect at its next start. */
export async function writeProfileSettings(dataDir: string): Promise<void> {
  const { path } = await findPostgresHome(dataDir);
  const lines = Object.entries(PROFILE_SETTINGS).map(([name, value]) => `${name} = '${value}'\n`);
  await writeFile(join(path, "postgresql.local.conf"), lines.join(""));
}

/** Begins to record; the returned function ends that. */
export async function recordDatabase({
  url,
  dataDir,
}: ProfiledDatabase): Promise<() => Promise<DatabaseProfile>> {
  const { log } = await findPostgresHome(dataDir);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create extension if not exists pg_stat_statements");
  const readCounters = async () => {
    const { rows } = await client.query<{ commits: number; walBytes: number }>(COUNTERS);
    return rows[0] ?? { commits: 0, walBytes: 0 };
  };
  const before = await readCounters();
  const logStart = await stat(log).then(({ size }) => size);
  await client.query("select pg_stat_statements_reset()");
  const began = performance.now();
  return async () => {
    const seconds = (performance.now() - began) / 1000;
    const { rows: statements } = await client.query<StatementFigures>(STATEMENTS);
    const after = await readCounters();
    await client.end();
    const logged = await readFrom(log, logStart);
    return {
      seconds,
      commits: after.commits - before.commits,
      walBytes: after.walBytes - before.walBytes,
      lockWaits: logged.match(/still waiting for/g)?.length ?? 0,
      statements,
      log: logged,
    };
  };
}

/** All of it when it has been rotated meanwhile. */
async function readFrom(path: string, offset: number): Promise<string> {
  const file = await open(path);
  const { size } = await file.stat();
  return text(file.createReadStream({ start: size < offset ? 0 : offset }));
}
