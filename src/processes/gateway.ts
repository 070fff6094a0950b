import { setTimeout as delay } from "node:timers/promises";
import { createEngine, type Engine } from "../engine/engine.ts";
import { ensureOwner } from "../features/accounts/create-account.ts";
import { createConversations } from "../features/messages/conversations.ts";
import { createOutcomeRecorder } from "../features/messages/record-outcome.ts";
import { createSandboxDriver } from "../network/sandbox/driver.ts";
import { createWhatsAppDriver } from "../network/whatsapp/driver.ts";
import type { Config } from "../platform/config.ts";
import { type DataDir, openDataDir, readOrMakeSecretKey } from "../platform/data-dir.ts";
import { type Database, type Db, openDatabase } from "../platform/db.ts";
import { startEmbeddedPostgres } from "../platform/embedded-postgres.ts";
import type { Readiness } from "../platform/http-server.ts";
import type { Log } from "../platform/log.ts";
import { migrateDatabase } from "../platform/migrate.ts";
import { createSafeFetch } from "../platform/safe-fetch.ts";
import { createSecretBox } from "../platform/secret-box.ts";
import { requireSecretKey } from "../platform/secret-check.ts";
import { version as readVersion } from "../platform/version.ts";
import { createApi } from "./api.ts";
import { addSessions } from "./sessions.ts";
import { refuseDatabase, refuseListening, refuseSetting, refuseStart, StartError } from "./start-error.ts";
import { addWorker } from "./worker.ts";

const GRACE_MS = 10_000;
/** How much of the grace requests under way get before the engine stops; a sync send needs the engine to end. */
const ANSWERS_MS = 8_000;

/** A running gateway. */
export interface Gateway {
  url: string;
  /** Which database is in use, in words, without its password. */
  database: string;
  engine: Engine;
  /** Set when this start has made the owner's account; the password only when it was made up. */
  firstOwner: { email: string; password?: string } | undefined;
  /**
   * Ends in order: no new requests, no new jobs, what is in flight finished, sessions closed but not logged out.
   * `drainMs`: requests are still taken, but no longer asked for; `graceMs`: for what is in flight (10,000).
   */
  stop(options?: { drainMs?: number; graceMs?: number }): Promise<void>;
}

/** Wires everything and starts it; undoes what it has started when something fails. */
export async function startGateway(config: Config, { log }: { log: Log }): Promise<Gateway> {
  const undo = new UndoList();
  try {
    return await start(config, log, undo);
  } catch (error) {
    await undo.run();
    throw error;
  }
}

async function start(config: Config, log: Log, undo: UndoList): Promise<Gateway> {
  const dataDir = await openDataDir(config.dataDir).catch(refuseStart);
  undo.add(() => dataDir.release());
  const store = await openStore(config, dataDir.path, log, undo);
  const { secretKey, firstOwner } = await prepareStore(config, dataDir.path, store);
  const readiness = { ready: false };
  const { engine, url } = await startServing({ config, log, undo, dataDir, ...store, secretKey, readiness });
  readiness.ready = true;
  log.info({ url }, "ready");
  return {
    url,
    database: store.words,
    engine,
    firstOwner,
    async stop({ drainMs = 0, graceMs } = {}) {
      readiness.ready = false;
      if (drainMs > 0) await delay(drainMs);
      await undo.run(graceMs);
    },
  };
}

interface Foundation {
  config: Config;
  log: Log;
  undo: UndoList;
  dataDir: DataDir;
  database: Database;
  sandbox: Database;
  secretKey: string;
  readiness: Readiness;
}

/** Puts engine, sessions, worker and HTTP together; requests are taken only once the engine runs. */
async function startServing(on: Foundation): Promise<{ engine: Engine; url: string }> {
  const { config, log, undo, dataDir, database, sandbox } = on;
  const { db } = database;
  const version = readVersion();
  const listeners = [listenerOf(database.url)];
  const outgoing = createSafeFetch({ ...config, ownListeners: () => listeners });
  undo.add(() => outgoing.close());
  const engine = createEngine({
    database,
    log,
    node_id: dataDir.node_id,
    roles: config.roles,
    url: config.nodeUrl,
    // The data directory is held, so an earlier process of this node is gone.
    takeAtOnce: true,
  });
  const box = createSecretBox(on.secretKey);
  const outcomes = createOutcomeRecorder(db, engine);
  const shared = {
    config,
    db,
    engine,
    box,
    outgoing,
    conversations: createConversations(db),
    outcomes,
    version,
    log,
  };
  const drivers = [
    createSandboxDriver({ pool: sandbox.pool, log }),
    createWhatsAppDriver({ url: config.whatsappUrl, rootKey: config.whatsappRootKey, log }),
  ];
  const sessions = addSessions({ ...shared, drivers });
  addWorker(shared);
  const api = await createApi({ ...on, ...shared, sessions, dataDir: dataDir.path });
  undo.add((leftMs) => engine.stop({ graceMs: leftMs() }));
  undo.add((leftMs) => api.close({ graceMs: Math.min(leftMs(), ANSWERS_MS) }));
  await engine.start();
  const { url, address, port } = await api
    .listen(config.host, config.port)
    .catch((error: unknown) => refuseListening(error, config.host, config.port));
  listeners.push({ address, port });
  return { engine, url };
}

/** Tables, key and owner, over connections that wait for locks as long as another node needs for the same. */
async function prepareStore(config: Config, dataDir: string, store: Store) {
  const patient = openDatabase(store.database.url, { max: 2, application_name: "waygate start" });
  try {
    await migrateDatabase(patient.db).catch((error: unknown) => refuseDatabase(error, store.words));
    const secretKey = await openSecrets(config, dataDir, patient.db);
    const firstOwner = await ensureOwner(patient.db, config).catch(refuseSetting);
    return { secretKey, firstOwner };
  } finally {
    await patient.close();
  }
}

/** The key of the secrets in the database, which must be the one that they were sealed with. */
async function openSecrets(config: Config, dataDir: string, db: Db): Promise<string> {
  const secretKey = config.secretKey?.reveal() ?? (await readOrMakeSecretKey(dataDir).catch(refuseStart));
  await requireSecretKey(db, createSecretBox(secretKey)).catch((cause: unknown) => {
    const whose = config.secretKey ? "WAYGATE_SECRET_KEY" : `The key in ${dataDir}/secret-key`;
    throw new StartError(
      `${whose} is not the one that the secrets in this database are sealed with. Set WAYGATE_SECRET_KEY to that one.`,
      { cause },
    );
  });
  return secretKey;
}

/** Where the database listens: no outgoing call may reach it. */
function listenerOf(databaseUrl: string): { address: string; port: number } {
  const { hostname, port } = new URL(databaseUrl);
  return { address: hostname, port: Number(port) || 5432 };
}

/** No batch waits longer for a row that somebody holds; then only those fail who need that row. */
const LOCK_TIMEOUT_MS = 1000;

interface Store {
  database: Database;
  /** The sandbox network's own connections. */
  sandbox: Database;
  words: string;
}

async function openStore(config: Config, dataDir: string, log: Log, undo: UndoList): Promise<Store> {
  const { url, words } = config.databaseUrl
    ? { url: config.databaseUrl, words: describeExternal(config.databaseUrl) }
    : await startOwn(config, dataDir, log, undo);
  const database = openDatabase(url, { lockTimeoutMs: LOCK_TIMEOUT_MS });
  undo.add(() => database.close());
  const sandbox = openDatabase(url, { max: 6, application_name: "waygate-sandbox" });
  undo.add(() => sandbox.close());
  return { database, sandbox, words };
}

async function startOwn({ pgBinDir }: Config, dataDir: string, log: Log, undo: UndoList) {
  const postgres = await startEmbeddedPostgres({ dataDir, binDir: pgBinDir, log }).catch(refuseStart);
  undo.add(() => postgres.stop());
  return { url: postgres.url, words: `its own PostgreSQL below ${dataDir}` };
}

function describeExternal(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `PostgreSQL at ${host}${pathname}`;
}

type UndoStep = (leftMs: () => number) => Promise<unknown>;

/** What has been started, to be stopped in the opposite order. */
class UndoList {
  readonly #steps: UndoStep[] = [];

  add(step: UndoStep): void {
    this.#steps.push(step);
  }

  /** Takes every step, also after one that fails, and then throws the first failure. */
  async run(graceMs = GRACE_MS): Promise<void> {
    const until = performance.now() + graceMs;
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      await step(() => Math.max(0, until - performance.now())).catch((error: unknown) =>
        failures.push(error),
      );
    }
    if (failures.length > 0) throw failures[0];
  }
}
