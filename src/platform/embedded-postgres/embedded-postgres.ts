import { chmod, readFile, realpath, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Log } from "../log/log.ts";
import { ensurePostgresCluster, SUPERUSER } from "./ensure-postgres-cluster.ts";
import { freePortsFor } from "./free-ports-for.ts";
import { findBinariesIn, findPackagedBinaries, type PostgresBinaries } from "./postgres-binaries.ts";
import { findPostgresHome, isPresent, type PostgresHome, SHARED_DIR } from "./postgres-home.ts";
import { rotatePostgresLog } from "./postgres-log.ts";
import {
  findRunningPort,
  launchPostmaster,
  type PostgresListener,
  type Postmaster,
  reattachPostmaster,
  shutDownPostmaster,
} from "./postmaster.ts";
import { prepareSocketDir } from "./prepare-socket-dir.ts";

/** Settings of postgresql.conf by name, as text. */
type PostgresSettings = Readonly<Record<string, string>>;

const SETTINGS: PostgresSettings = {
  listen_addresses: "127.0.0.1",
  max_connections: "50",
  password_encryption: "scram-sha-256",
  // Every acknowledged commit is on disk.
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  max_wal_size: "512MB",
  // Sized for one small machine shared with the gateway; /dev/shm may be tiny in a container.
  shared_buffers: "64MB",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  // On an SSD, a random read costs little more than a sequential one.
  random_page_cost: "1.1",
  // The job queue is a table with a high turnover of rows.
  autovacuum_naptime: "10s",
  autovacuum_max_workers: "2",
  autovacuum_vacuum_scale_factor: "0.05",
  autovacuum_analyze_scale_factor: "0.05",
  // Each vacuum and analyze discards the prepared plans of the table, which cost more than 2,000 dead rows.
  autovacuum_vacuum_threshold: "2000",
  autovacuum_analyze_threshold: "2000",
  autovacuum_vacuum_cost_delay: "0",
  // A process stopped in the middle of a transaction must not hold its locks forever.
  idle_in_transaction_session_timeout: "30s",
  // The gateway receives statement errors; logging them here would copy personal data into a file.
  log_destination: "stderr",
  logging_collector: "off",
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
  log_autovacuum_min_duration: "-1",
  log_line_prefix: "%m [%p] ",
  lc_messages: "C",
  log_timezone: "UTC",
  timezone: "UTC",
};

interface PostgresConfigOptions {
  /** The major version of PostgreSQL. */
  major: number;
  /** The directory of the Unix socket; undefined: none. */
  socketDir: string | undefined;
  /** Settings that override the gateway's. */
  more?: PostgresSettings | undefined;
}

export interface EmbeddedPostgresOptions {
  /** Locked by this process: two gateways must not start one database. */
  dataDir: string;
  /** The bin directory of another PostgreSQL, 15 or newer. */
  binDir?: string;
  log: Log;
  /** For tests only: settings that override the gateway's. */
  settings?: PostgresSettings;
}

export interface EmbeddedPostgres {
  /** On 127.0.0.1. */
  url: string;
  /** The same database over its Unix socket, which costs less; undefined where there is none. */
  socketUrl: string | undefined;
  /** Whether the server was still running, left by a killed gateway. */
  wasAlreadyRunning: boolean;
  stop(): Promise<void>;
}

const BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;
const STRAGGLERS_MS = 10_000;
const LOG_CHECK_MS = 60_000;
/** The name of the gateway's database, and of its role, which owns the database and is no superuser. */
const DATABASE = "waygate";

/**
 * Starts the gateway's own PostgreSQL, or reattaches to the one still running on this data directory, and
 * restarts it until stopped. On failure throws one Error with the reason and the advice to set DATABASE_URL.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    return await start(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Waygate cannot start its own PostgreSQL. ${reason}\n` +
        "To use your own PostgreSQL (15 or newer) instead, set DATABASE_URL.",
      { cause: error },
    );
  }
}

/** URL of the running database of a data directory, for a command beside the gateway. */
export async function findRunningDatabase(dataDir: string): Promise<string | undefined> {
  const home = await findPostgresHome(await realpath(dataDir));
  const port = await findRunningPort(home);
  return port === undefined ? undefined : urlOf((await readFile(home.password, "utf8")).trim(), port);
}

async function start({ dataDir, binDir, log, settings }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const own = await realpath(dataDir);
  const home = await findPostgresHome(own);
  const copies = home.runner === undefined ? join(own, "postgres-programs") : SHARED_DIR;
  const binaries = binDir ? await findBinariesIn(binDir) : await findPackagedBinaries(copies, home.runner);
  await ensurePostgresCluster(home, binaries, settings?.fsync !== "off");
  const password = (await readFile(home.password, "utf8")).trim();
  const found = await reattachPostmaster(home, binaries);
  const { socketDir } = found ?? { socketDir: await prepareSocketDir(home) };
  await writePostgresConfig(home, { major: binaries.major, socketDir, more: settings });
  const postmaster = found ?? (await launchOnFreePort(home, binaries, socketDir));
  const addresses = await prepareDatabase(password, postmaster, log).catch(async (error: unknown) => {
    await shutDownPostmaster(postmaster);
    throw error;
  });
  log.info(
    { pid: postmaster.pid, port: postmaster.port },
    found ? "PostgreSQL was still running" : "PostgreSQL started",
  );
  const stop = supervise(home, binaries, postmaster, log);
  return { ...addresses, wasAlreadyRunning: found !== undefined, stop };
}

/** Uses the same port at every start of a data directory, unless another program has taken it. */
async function launchOnFreePort(
  home: PostgresHome,
  binaries: PostgresBinaries,
  socketDir: string | undefined,
): Promise<Postmaster> {
  for await (const port of freePortsFor(home.path)) {
    try {
      return await launchPatiently(home, binaries, { port, socketDir });
    } catch (error) {
      if (!hasMessage(error, "could not bind IPv4")) throw error;
    }
  }
  throw new Error("No port is free on 127.0.0.1.");
}

/** After a crash, the server's last processes may need a moment to end. */
async function launchPatiently(
  home: PostgresHome,
  binaries: PostgresBinaries,
  listener: PostgresListener,
): Promise<Postmaster> {
  for (const until = performance.now() + STRAGGLERS_MS; ; await sleep(BACKOFF_MS)) {
    try {
      return await launchPostmaster(home, binaries, listener);
    } catch (error) {
      if (!hasMessage(error, "pre-existing shared memory") || performance.now() > until) throw error;
    }
  }
}

function hasMessage(error: unknown, text: string): boolean {
  return error instanceof Error && error.message.includes(text);
}

function urlOf(password: string, port: number, host = "127.0.0.1"): string {
  return `postgres://${DATABASE}:${password}@${host}:${port}/${DATABASE}`;
}

/** Creates the database if it is missing. Returns its URLs; the socket's only if this process reaches it. */
async function prepareDatabase(password: string, { port, socketDir }: Postmaster, log: Log) {
  const url = urlOf(password, port);
  if (socketDir !== undefined) {
    const socketUrl = urlOf(password, port, encodeURIComponent(socketDir));
    try {
      await ensureDatabase(socketUrl, password);
      return { url, socketUrl };
    } catch (error) {
      log.info({ err: error }, "The Unix socket of PostgreSQL cannot be used; using TCP");
    }
  }
  await ensureDatabase(url, password);
  return { url, socketUrl: undefined };
}

/** The same server as its superuser. */
export function superuserUrl(url: string): string {
  return url.replace(`//${DATABASE}:`, `//${SUPERUSER}:`).replace(/\/\w+$/, "/postgres");
}

/**
 * Creates what is missing of the gateway's role and its database: a crash may have happened after each step. The role may
 * create databases, in which backups are verified, but no statement of it starts a program or reads a file.
 */
async function ensureDatabase(url: string, password: string): Promise<void> {
  const admin = new pg.Client({ connectionString: superuserUrl(url), connectionTimeoutMillis: 10_000 });
  admin.on("error", () => {});
  await admin.connect();
  try {
    const role = await admin.query("select from pg_roles where rolname = $1", [DATABASE]);
    if (role.rowCount === 0)
      await admin.query(`create role ${DATABASE} login createdb password ${admin.escapeLiteral(password)}`);
    const database = await admin.query("select from pg_database where datname = $1", [DATABASE]);
    if (database.rowCount === 0) await admin.query(`create database ${DATABASE} owner ${DATABASE}`);
  } finally {
    await admin.end();
  }
}

/** Restarts the server whenever it exits unexpectedly; returns the function that stops both. */
function supervise(
  home: PostgresHome,
  binaries: PostgresBinaries,
  first: Postmaster,
  log: Log,
): () => Promise<void> {
  const stopping = new AbortController();
  let current = first;
  const keepRunning = async (): Promise<void> => {
    for (;;) {
      await current.exited;
      if (stopping.signal.aborted) return;
      log.error({ pid: current.pid }, "PostgreSQL exited unexpectedly; restarting it");
      const next = await relaunch(home, binaries, current, log, stopping.signal);
      if (next === undefined) return;
      current = next;
    }
  };
  const running = keepRunning();
  const logCheck = setInterval(() => void rotatePostgresLog(home.log).catch(() => {}), LOG_CHECK_MS);
  logCheck.unref();
  return async () => {
    clearInterval(logCheck);
    stopping.abort();
    await shutDownPostmaster(current);
    await running;
  };
}

async function relaunch(
  home: PostgresHome,
  binaries: PostgresBinaries,
  { port, socketDir }: PostgresListener,
  log: Log,
  stopping: AbortSignal,
): Promise<Postmaster | undefined> {
  for (let waitMs = BACKOFF_MS; ; waitMs = Math.min(waitMs * 2, MAX_BACKOFF_MS)) {
    try {
      const postmaster = await launchPostmaster(home, binaries, { port, socketDir });
      log.info({ pid: postmaster.pid, port }, "PostgreSQL is back");
      if (!stopping.aborted) return postmaster;
      await shutDownPostmaster(postmaster);
    } catch (error) {
      log.error({ err: error, port }, "PostgreSQL does not start");
      await sleep(waitMs, undefined, { signal: stopping }).catch(() => {});
    }
    if (stopping.aborted) return undefined;
  }
}

/** Rewrites the configuration; the operator's postgresql.local.conf beside it takes precedence. */
async function writePostgresConfig(
  home: PostgresHome,
  { major, socketDir = "", more }: PostgresConfigOptions,
): Promise<void> {
  const version = major >= 18 ? { io_method: "sync" } : {};
  const settings = { ...SETTINGS, unix_socket_directories: socketDir, ...version, ...more };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  const header =
    "# Written by Waygate at every start. Your own settings go into postgresql.local.conf in this directory.";
  await writeReadable(
    `${home.config}.new`,
    [header, ...lines, "include 'postgresql.local.conf'", ""].join("\n"),
  );
  await rename(`${home.config}.new`, home.config);
  const local = join(home.path, "postgresql.local.conf");
  if (!(await isPresent(local)))
    await writeReadable(local, "# Your own settings of PostgreSQL; they win over Waygate's.\n");
}

async function writeReadable(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o644);
}
