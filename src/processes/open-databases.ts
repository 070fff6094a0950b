import { randomInt } from "node:crypto";
import { sql } from "kysely";
import type { Config } from "../platform/config/config.ts";
import { loadOrCreateSecretKey } from "../platform/config/data-dir.ts";
import { requireSecretKey } from "../platform/config/require-secret-key.ts";
import { type Database, type Db, openDatabase } from "../platform/db/database.ts";
import { migrateDatabase } from "../platform/db/migrate-database.ts";
import { REQUEST_CONNECTIONS } from "../platform/db/request-pool.ts";
import { startEmbeddedPostgres } from "../platform/embedded-postgres/embedded-postgres.ts";
import { requireFreeSpace } from "../platform/files/require-free-space.ts";
import type { Log } from "../platform/log/log.ts";
import { createSecretBox, type SecretBox } from "../platform/secrets/secret-box.ts";
import type { CleanupStack } from "./cleanup-stack.ts";
import { rethrowAsStartError, StartError, throwDatabaseStartError } from "./start-error.ts";

/** Longest wait of a batch for a locked row; after that only the items that need this row fail. */
const LOCK_TIMEOUT_MS = 1000;
/** With less, PostgreSQL cannot write the next part of its log. */
const LEAST_FREE_BYTES = 17_000_000;
/** After a restart of the machine, everything on it starts at once: the database may take long to respond. */
const START_TIMEOUT_MS = 30_000;

export interface Databases {
  /** For the engine, sessions and workers: no request can take these connections. */
  database: Database;
  /** For the handlers of requests. */
  requests: Database;
  /** The sandbox network's own connections. */
  sandbox: Database;
  description: string;
  /** Where the database listens; outgoing requests must not reach it. */
  databaseListeners: NetworkAddress[];
}

interface NetworkAddress {
  address: string;
  port: number;
}

export async function openDatabases(
  config: Config,
  dataDir: string,
  log: Log,
  undo: CleanupStack,
): Promise<Databases> {
  const { url, description, tcpUrl } = config.databaseUrl
    ? {
        url: config.databaseUrl,
        description: describeExternal(config.databaseUrl),
        tcpUrl: config.databaseUrl,
      }
    : await startOwn(config, dataDir, log, undo);
  const directUrl = config.databaseDirectUrl;
  const database = openDatabase(url, {
    directUrl,
    min: 2,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    startTimeoutMs: START_TIMEOUT_MS,
  });
  undo.add(() => database.close());
  const requests = openDatabase(url, {
    directUrl,
    forRequests: true,
    max: REQUEST_CONNECTIONS.max,
    min: 2,
    application_name: "waygate requests",
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    startTimeoutMs: START_TIMEOUT_MS,
  });
  undo.add(() => requests.close());
  // The sandbox network recognises live processes by locks that their connections hold.
  const sandbox = openDatabase(database.url, {
    max: 6,
    application_name: "waygate-sandbox",
    startTimeoutMs: START_TIMEOUT_MS,
  });
  undo.add(() => sandbox.close());
  const databaseListeners = [tcpUrl, directUrl ?? tcpUrl].map(listenerOf);
  return { database, requests, sandbox, description, databaseListeners };
}

async function startOwn({ pgBinDir }: Config, dataDir: string, log: Log, undo: CleanupStack) {
  const postgres = await startEmbeddedPostgres({ dataDir, binDir: pgBinDir, log }).catch(rethrowAsStartError);
  undo.add(() => postgres.stop());
  const { url: tcpUrl, socketUrl: url = tcpUrl } = postgres;
  return { url, description: `its own PostgreSQL below ${dataDir}`, tcpUrl };
}

function listenerOf(databaseUrl: string): NetworkAddress {
  const { hostname, port } = new URL(databaseUrl);
  return { address: hostname, port: Number(port) || 5432 };
}

function describeExternal(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `PostgreSQL at ${host}${pathname}`;
}

/** Creates tables and keys, on connections with a long lock timeout: another node may be doing the same. */
export async function prepareDatabases(config: Config, dataDir: string, store: Databases) {
  const startDatabase = openDatabase(store.database.url, {
    max: 2,
    application_name: "waygate start",
    startTimeoutMs: START_TIMEOUT_MS,
  });
  try {
    await readyDatabase(config, startDatabase.db, store).catch(async (error: unknown) => {
      if (config.databaseUrl === undefined)
        await requireFreeSpace(dataDir, LEAST_FREE_BYTES).catch(rethrowAsStartError);
      throwDatabaseStartError(error, store.description);
    });
    return await openSecrets(config, dataDir, startDatabase.db);
  } finally {
    await startDatabase.close();
  }
}

async function readyDatabase(config: Config, db: Db, store: Databases): Promise<void> {
  if (config.databaseDirectUrl !== undefined) await requireOneDatabase(db, store);
  await migrateDatabase(db);
}

/** A lock taken on the direct URL must be visible through the pooler; otherwise the databases differ. */
async function requireOneDatabase(direct: Db, { database }: Databases): Promise<void> {
  const key = sql`${randomInt(2 ** 31)}, ${randomInt(2 ** 31)}`;
  const isSeen = await direct.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${key})`.execute(trx);
    const { rows } = await sql<{ is_free: boolean }>`
      select pg_try_advisory_xact_lock(${key}) as is_free`.execute(database.db);
    return rows[0]?.is_free === false;
  });
  if (!isSeen)
    throw new StartError(
      "WAYGATE_DATABASE_DIRECT_URL leads to another database than DATABASE_URL. Set both to the same one.",
    );
}

/** The key that seals secrets; must be the key that sealed the secrets in the database. */
export async function openSecrets(config: Config, dataDir: string, db: Db): Promise<Secrets> {
  const secretKey =
    config.secretKey?.reveal() ?? (await loadOrCreateSecretKey(dataDir).catch(rethrowAsStartError));
  const box = createSecretBox(secretKey, config.secretKeySecond?.reveal());
  await requireSecretKey(db, box).catch((cause: unknown) => {
    const keySource = config.secretKey ? "WAYGATE_SECRET_KEY" : `The key in ${dataDir}/secret-key`;
    throw new StartError(
      `${keySource} is not the one that the secrets in this database are encrypted with. Set WAYGATE_SECRET_KEY to that key.`,
      { cause },
    );
  });
  return { secretKey, box };
}

interface Secrets {
  secretKey: string;
  box: SecretBox;
}
