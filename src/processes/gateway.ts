import { setTimeout as delay } from "node:timers/promises";
import { hasOtherAccounts } from "../core/accounts/has-other-accounts.ts";
import { describeIgnoredOwnerSetting } from "../core/accounts/users/find-owner-setting-problems.ts";
import {
  confirmPrinted,
  type FirstSignIn,
  prepareFirstSignIn,
} from "../core/accounts/users/prepare-first-sign-in.ts";
import { describeOutgoingPolicy } from "../core/health/check-outgoing-policy.ts";
import type { Engine } from "../engine/engine.ts";
import type { Config } from "../platform/config/config.ts";
import { openDataDir } from "../platform/config/data-dir.ts";
import type { Log } from "../platform/log/log.ts";
import { packageVersion } from "../platform/package-version.ts";
import { flushSpans, setTracing } from "../platform/tracing/tracing.ts";
import { CleanupStack } from "./cleanup-stack.ts";
import { openDatabases, prepareDatabases } from "./open-databases.ts";
import { rethrowAsStartError, throwSettingError } from "./start-error.ts";

/** A running gateway. */
export interface Gateway {
  url: string;
  /** A description of the database in use, without its password. */
  database: string;
  /** A description of where outgoing requests may go at start. */
  outgoingPolicy: string;
  engine: Engine;
  /** Set if this start has created the owner's account, or nobody has signed in to it yet. */
  firstOwner: FirstSignIn | undefined;
  /** To be called once the password of `firstOwner` is printed; otherwise the next start generates another. */
  confirmPrinted(): Promise<void>;
  /** A setting for the owner that is ignored, because the existing owner differs from it. */
  ignoredSetting: string | undefined;
  /**
   * Stops gracefully: accepts no new requests or jobs, finishes running work, and closes sessions without
   * logging them out. `drainMs`: how long it still accepts requests while it reports not ready; `graceMs`:
   * for running work (10,000).
   */
  stop(options?: { drainMs?: number; graceMs?: number }): Promise<void>;
}

export interface GatewayOptions {
  log: Log;
  /** Whether the output goes to a terminal, where a password may be shown. Default: false. */
  isTerminal?: boolean;
}

/** Wires and starts all parts; stops the started ones if a later one fails. */
export async function startGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const undo = new CleanupStack();
  try {
    return await start(config, options, undo);
  } catch (error) {
    await undo.run();
    throw error;
  }
}

async function start(
  config: Config,
  { log, isTerminal = false }: GatewayOptions,
  undo: CleanupStack,
): Promise<Gateway> {
  const dataDir = await openDataDir(config.dataDir).catch(rethrowAsStartError);
  undo.add(() => dataDir.release());
  // PostgreSQL starts while Node loads most of the program.
  const [store, { startServing }] = await Promise.all([
    openDatabases(config, dataDir.path, log, undo),
    import("./start-serving.ts"),
  ]);
  startTracing(config, log, undo);
  const { secretKey, box } = await prepareDatabases(config, dataDir.path, store);
  const readiness = { ready: false };
  const { engine, url } = await startServing({
    config,
    log,
    undo,
    dataDir,
    ...store,
    secretKey,
    box,
    readiness,
  });
  const { db } = store.database;
  const { ownerEmail, ownerPassword } = config;
  const node = dataDir.node_id;
  const outgoingPolicy = describeOutgoingPolicy(config, await hasOtherAccounts(db));
  // Runs after every step that can fail, because its password is shown only once.
  const firstOwner = await prepareFirstSignIn(db, { ownerEmail, ownerPassword, node, isTerminal }).catch(
    throwSettingError,
  );
  for (const one of [store.database, store.requests, store.sandbox]) one.endStart();
  readiness.ready = true;
  log.info({ url }, "ready");
  return {
    url,
    database: store.description,
    outgoingPolicy,
    engine,
    firstOwner,
    confirmPrinted: () => confirmPrinted(db, node),
    ignoredSetting: firstOwner?.isCreated ? undefined : await describeIgnoredOwnerSetting(db, config),
    async stop({ drainMs = 0, graceMs } = {}) {
      readiness.ready = false;
      if (drainMs > 0) await delay(drainMs);
      await undo.run(graceMs);
    },
  };
}

/** Traces as the settings say. The last step of a stop exports the spans that the others have ended. */
function startTracing({ tracing }: Config, log: Log, undo: CleanupStack): void {
  const mode = setTracing(tracing, packageVersion());
  if (mode === tracing) undo.add(() => flushSpans());
  else
    log.warn(
      "WAYGATE_TRACING is on, but no OpenTelemetry SDK is loaded, so nothing is traced. See docs/operation/tracing.md.",
    );
}
