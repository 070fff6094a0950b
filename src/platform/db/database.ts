import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Kysely, PostgresDialect, type PostgresPoolClient, sql, type Transaction } from "kysely";
import pg from "pg";
import type { Tables } from "../../tables.ts";
import { PreparedStatementClient, usePreparedStatements } from "./prepared-statement.ts";
import { shareConnections } from "./request-pool.ts";
import { trackBackendProcess } from "./unknown-commit-outcome.ts";

export type Db = Kysely<Tables>;
export type Trx = Transaction<Tables>;

/** A connection pool with Kysely on top; `url` is for callers that need their own connection. */
export interface Database {
  db: Db;
  pool: pg.Pool;
  url: string;
  /**
   * Sends a query on every open connection. The returned function destroys connections without a reply since
   * then; their statements fail as if the database were unavailable.
   */
  checkConnections(): () => void;
  /** Requests that wait for one of the shared connections; 0 without `forRequests`. */
  waitingRequests(): number;
  /** The start is over: from now on connecting times out after 3 s. */
  endStart(): void;
  /** Waits for running statements, then closes every connection. */
  close(): Promise<void>;
}

/** How long connecting may take after the start; tests shorten it. */
export const CONNECT_TIMING = { timeoutMs: 3_000 };
const DEFAULT_POOL = 10;
/** A new connection has no plans yet. */
const IDLE_MS = 60_000;
/** A connection never releases the memory of its statements, and their texts change. */
const MAX_LIFETIME_S = 86_400;
/** Ends a stalled transaction at most 3 s + 8 s after the last heartbeat: after 11 s others claim the lanes. */
const IDLE_IN_TRANSACTION_MS = 8_000;
const REQUEST_STATEMENT_MS = 10_000;
const OID = { int8: 20, int8Array: 1016, textArray: 1009, numeric: 1700, numericArray: 1231 };

export interface DatabaseOptions {
  /** URL for callers' own connections, past a pooler in front of `url`; by default `url`. */
  directUrl?: string | undefined;
  /** Most connections; 10 by default. */
  max?: number;
  /** Connecting times out after this until `endStart` is called, in milliseconds; 3,000 by default. */
  startTimeoutMs?: number;
  /** Connections that stay open with their plans once they are open; the others end after an idle minute. */
  min?: number;
  application_name?: string;
  /**
   * A statement that waits longer for a lock fails (55P03), so that one locked row cannot stop a whole batch.
   */
  lockTimeoutMs?: number;
  /**
   * The statements are those of requests: each ends after 10 s (57014), accounts share the connections fairly, and what
   * only reads ends when its client leaves.
   */
  forRequests?: boolean;
}

/**
 * Opens a pool that survives restarts of the database. Connecting times out, but a statement waits for its
 * response until the connection ends: see `suspect`.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const clients = new Set<pg.Client>();
  const isPooled = options.directUrl !== undefined && options.directUrl !== url;
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? DEFAULT_POOL,
    min: options.min ?? 0,
    idleTimeoutMillis: IDLE_MS,
    maxLifetimeSeconds: MAX_LIFETIME_S,
    application_name: options.application_name ?? "waygate",
    connectionTimeoutMillis: options.startTimeoutMs ?? CONNECT_TIMING.timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: numbersAsNumbers(),
    onConnect: async (client) => {
      if (client instanceof pg.Client) clients.add(client.once("end", () => clients.delete(client)));
      await client.query(settingsOf(options));
      await trackBackendProcess(client, isPooled);
    },
  });
  pool.on("error", () => {});
  // Without this listener, a connection that breaks between two statements of a transaction would end the
  // process.
  pool.on("connect", (client) => client.on("error", () => {}));
  // Behind a pooler, the next statement may run on another connection, which does not have its prepared plan.
  const prepared = isPooled ? pool : usePreparedStatements(pool);
  const requests = options.forRequests
    ? shareConnections(prepared, (client) => cutConnection(pool, client))
    : undefined;
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: requests ?? prepared }) });
  return {
    db,
    pool,
    url: options.directUrl ?? url,
    checkConnections: () => suspect(clients),
    waitingRequests: () => requests?.waiting() ?? 0,
    endStart() {
      pool.options.connectionTimeoutMillis = CONNECT_TIMING.timeoutMs;
    },
    close: () => closePool(db, pool),
  };
}

/** Not as start-up parameters, which poolers refuse. */
function settingsOf({ lockTimeoutMs, forRequests }: DatabaseOptions): string {
  return [
    `set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
    ...(lockTimeoutMs ? [`set lock_timeout = ${Math.round(lockTimeoutMs)}`] : []),
    ...(forRequests ? [`set statement_timeout = ${REQUEST_STATEMENT_MS}`] : []),
  ].join("; ");
}

/** Ends a connection with its statement, over another one. Behind a pooler the process is not known. */
function cutConnection(pool: pg.Pool, client: PostgresPoolClient): void {
  if (!(client instanceof PreparedStatementClient)) return;
  pool.query("select pg_terminate_backend($1)", [client.processId]).catch(() => {});
}

function suspect(clients: ReadonlySet<pg.Client>): () => void {
  const before = [...clients].map(({ connection: { stream } }) => ({ stream, received: receivedBy(stream) }));
  // The query queues behind the running statement, so that an idle connection is not mistaken for a dead one.
  for (const client of clients) client.query("select").catch(() => {});
  return () => {
    for (const { stream, received } of before) if (receivedBy(stream) === received) stream.destroy();
  };
}

function receivedBy(stream: Duplex): number | undefined {
  return stream instanceof Socket ? stream.bytesRead : undefined;
}

// Kysely does not close a pool that it has never used.
async function closePool(db: Db, pool: pg.Pool): Promise<void> {
  await db.destroy();
  if (!pool.ending) await pool.end();
}

// 25P03: the server ended an idle transaction of ours. 53300: it has no free connection.
const UNAVAILABLE_STATES = /^(08...|25P03|57P0[1-3]|53300)$/;
const UNAVAILABLE_SYSTEM_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENOTFOUND",
  "EAI_AGAIN",
]);
const UNAVAILABLE_MESSAGES = [
  "Connection terminated",
  "timeout exceeded when trying to connect",
  "timeout expired",
  "Client has encountered a connection error and is not queryable",
  "Client was closed and is not queryable",
];

/** Whether an error means that the database is unreachable now (refused, gone, restarting, pool exhausted). */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)) return true;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (UNAVAILABLE_STATES.test(code) || UNAVAILABLE_SYSTEM_CODES.has(code)) return true;
  // A Unix socket: the server is not there, or its queue of connections is full.
  if ((code === "ENOENT" || code === "EAGAIN") && "syscall" in error && error.syscall === "connect")
    return true;
  if (UNAVAILABLE_MESSAGES.some((sentence) => error.message.startsWith(sentence))) return true;
  return error.cause !== undefined && isDatabaseUnavailable(error.cause);
}

const DISK_FULL_STATE = "53100";
const STATEMENT_TIMEOUT_STATE = "57014";
const LOCK_TIMEOUT_STATE = "55P03";
const UNIQUE_VIOLATION_STATE = "23505";
const UNDEFINED_TABLE_STATE = "42P01";
// A deadlock or a serialisation failure.
const CONFLICT_STATES = /^(40P01|40001)$/;

/** Whether the database's disk is full; reads still work, and writes work again once there is space. */
export function isDatabaseFull(error: unknown): boolean {
  return stateOf(error) === DISK_FULL_STATE;
}

/**
 * Whether the same statement may succeed later: the database is unavailable or full, or there was a conflict.
 */
export function isTransientDatabaseError(error: unknown): boolean {
  const isBusy = isLockTimeout(error) || CONFLICT_STATES.test(stateOf(error));
  return isBusy || isDatabaseFull(error) || isDatabaseUnavailable(error);
}

/** Whether a lock wait timed out. */
export function isLockTimeout(error: unknown): boolean {
  return stateOf(error) === LOCK_TIMEOUT_STATE;
}

/** Whether a statement of a request needed more than its time. */
export function isStatementTimeout(error: unknown): boolean {
  return stateOf(error) === STATEMENT_TIMEOUT_STATE;
}

/** Whether a unique constraint rejected the row. */
export function isUniqueViolation(error: unknown): boolean {
  return stateOf(error) === UNIQUE_VIOLATION_STATE;
}

/** Whether the statement named a table that does not exist; it has done nothing. */
export function isMissingTable(error: unknown): boolean {
  return stateOf(error) === UNDEFINED_TABLE_STATE;
}

function stateOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** The database's clock, which stamps rows. */
export async function readDatabaseTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now()`.execute(db);
  return rows[0]?.now ?? new Date();
}

function numbersAsNumbers(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides();
  types.setTypeParser(OID.int8, Number);
  types.setTypeParser(OID.numeric, Number);
  const texts: (array: string) => (string | null)[] = pg.types.getTypeParser(OID.textArray);
  for (const oid of [OID.int8Array, OID.numericArray]) {
    types.setTypeParser(oid, (array: string) => texts(array).map((n) => (n === null ? null : Number(n))));
  }
  return types;
}
