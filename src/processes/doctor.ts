import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { hasOtherAccounts } from "../features/accounts/other-accounts.ts";
import {
  examineBackups,
  examineDatabase,
  examineDisk,
  examineKeyScopes,
  examineMediaStore,
  examineNetwork,
  examinePort,
  examineSecretKey,
  examineSecrets,
  type Finding,
} from "../features/health/examine.ts";
import { examineClientVersion } from "../features/health/examine-client-version.ts";
import { examineSessions } from "../features/health/failed-instances.ts";
import { examinePolicy } from "../features/health/outgoing-calls.ts";
import { loadLibrary } from "../network/whatsapp/load-library.ts";
import { type Config, ConfigError, type Env, readConfig } from "../platform/config.ts";
import { findKey, openDataDir } from "../platform/data-dir.ts";
import type { Db } from "../platform/db.ts";
import { findPostgresHome, isPresent } from "../platform/postgres-home.ts";
import { createSafeFetch } from "../platform/safe-fetch.ts";
import { createSecretBox } from "../platform/secret-box.ts";
import { openCommandDatabase } from "./command-store.ts";
import { refuseDatabase } from "./start-error.ts";
import { UndoList } from "./undo-list.ts";

/** Prints what it finds, one line per check; answers whether nothing is broken. */
export async function doctor(env: Env): Promise<boolean> {
  const findings = await examine(env);
  for (const { what, grade, words, mend } of findings) {
    console.log(`${grade.padEnd(5)} ${what}: ${words}.${mend ? ` ${mend}` : ""}`);
  }
  return findings.every(({ grade }) => grade !== "fail");
}

async function examine(env: Env): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const mend = "See docs/configuration.md.";
    return error.problems.map((words) => ({ what: "settings", grade: "fail", words, mend }));
  }
  const dataDir = resolve(config.dataDir);
  const { found, hasOthers } = await examineStore(config, dataDir);
  return [
    { what: "settings", grade: "ok", words: "all can be read" },
    await examineDisk(dataDir),
    ...found,
    examineSecrets(config),
    ...((await isPresent(dataDir)) || config.media ? [await examineMediaStore(config, dataDir)] : []),
    examinePolicy(config, hasOthers),
    await examineLibrary(),
    await examineNetwork(config),
    await examinePort(config, await isHeld(config.dataDir)),
  ];
}

interface StoreFindings {
  found: Finding[];
  /** Whether there is a second account; undefined where the database does not say. */
  hasOthers?: boolean;
}

/** The database with what it says of keys and accounts; one that was never started is not started for this. */
async function examineStore(config: Config, dataDir: string): Promise<StoreFindings> {
  if (!config.databaseUrl && !(await hasOwnDatabase(dataDir))) {
    return {
      found: [{ what: "database", grade: "ok", words: "its own PostgreSQL is made at the first start" }],
    };
  }
  const undo = new UndoList();
  try {
    const { database, words } = await openCommandDatabase(config, undo);
    const found = await examineDatabase(database.db, words).catch((error) => refuseDatabase(error, words));
    const isReady = found.every(({ grade, what }) => what !== "migrations" || grade === "ok");
    if (!isReady) return { found };
    found.push(...(await examineKeys(config, dataDir, database.db)));
    found.push(...(await examineBackups(database.db, config)));
    found.push(await examineSessions(database.db));
    found.push(await examineVersion(config, database.db));
    found.push(await examineKeyScopes(database.db));
    return { found, hasOthers: await hasOtherAccounts(database.db) };
  } catch (error) {
    const words = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
    return { found: [{ what: "database", grade: "fail", words }] };
  } finally {
    await undo.run();
  }
}

async function examineVersion(config: Config, db: Db): Promise<Finding> {
  const outgoing = createSafeFetch(config);
  return examineClientVersion(db, config, outgoing).finally(() => outgoing.close());
}

async function examineKeys(config: Config, dataDir: string, db: Db): Promise<Finding[]> {
  const key = config.secretKey?.reveal() ?? (await findKey(dataDir, "secret-key"));
  if (key === undefined) {
    const mend = "Put it back from a copy, or set WAYGATE_SECRET_KEY.";
    return [{ what: "secret key", grade: "fail", words: `${dataDir}/secret-key is not there`, mend }];
  }
  return [await examineSecretKey(db, createSecretBox(key, config.secretKeySecond?.reveal()))];
}

/** Whether this Node can load what WhatsApp sessions are made with. */
async function examineLibrary(): Promise<Finding> {
  const what = "WhatsApp library";
  try {
    await loadLibrary({ url: undefined, rootKey: undefined, onFailure: () => {} });
    return { what, grade: "ok", words: `it loads on Node ${process.version}` };
  } catch (error) {
    const words = `it cannot be loaded on Node ${process.version} (${error instanceof Error ? error.message : error})`;
    const mend = "Install Waygate again with npm ci, on a Node that package.json names under engines.";
    return { what, grade: "fail", words, mend };
  }
}

async function hasOwnDatabase(dataDir: string): Promise<boolean> {
  if (!(await isPresent(dataDir))) return false;
  return isPresent((await findPostgresHome(await realpath(dataDir))).data);
}

/** Whether a gateway runs on this data directory. */
async function isHeld(dataDir: string): Promise<boolean> {
  if (!(await isPresent(dataDir))) return false;
  const taken = await openDataDir(dataDir).catch(() => undefined);
  await taken?.release();
  return taken === undefined;
}
