import { chmod, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isPresent, type PostgresHome } from "./postgres-home.ts";

/** Settings of postgresql.conf by name, as text. */
export type PostgresSettings = Readonly<Record<string, string>>;

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

export interface PostgresConfigOptions {
  /** The major version of PostgreSQL. */
  major: number;
  /** The directory of the Unix socket; undefined: none. */
  socketDir: string | undefined;
  /** Settings that override the gateway's. */
  more?: PostgresSettings | undefined;
}

/** Rewrites the configuration; the operator's postgresql.local.conf beside it takes precedence. */
export async function writePostgresConfig(
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
