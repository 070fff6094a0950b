import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { hasOtherAccounts } from "../core/accounts/has-other-accounts.ts";
import { checkClientVersion } from "../core/health/check-client-version.ts";
import { checkOutgoingPolicy } from "../core/health/check-outgoing-policy.ts";
import {
  checkDatabase,
  checkDisk,
  checkKeyScopes,
  checkMediaStore,
  checkNetwork,
  checkPort,
  checkSecretKey,
  checkSecrets,
  type DoctorFinding,
} from "../core/health/doctor-checks.ts";
import { checkSessions } from "../core/health/failed-instances.ts";
import { loadBaileys } from "../network/whatsapp/load-baileys.ts";
import { type Config, ConfigError, type Env, readConfig } from "../platform/config/config.ts";
import { findGeneratedKey, openDataDir } from "../platform/config/data-dir.ts";
import type { Db } from "../platform/db/database.ts";
import { findPostgresHome, isPresent } from "../platform/embedded-postgres/postgres-home.ts";
import { createSafeFetch } from "../platform/outgoing/safe-fetch.ts";
import { packageVersion } from "../platform/package-version.ts";
import { createSecretBox } from "../platform/secrets/secret-box.ts";
import { maskUrl } from "../platform/urls/mask-url.ts";
import { CleanupStack } from "../processes/cleanup-stack.ts";
import { throwDatabaseStartError } from "../processes/start-error.ts";
import { openCommandDatabase } from "./operator/command-database.ts";

/** What `waygate doctor --json` prints. Later versions may add fields and checks; the present ones keep their meaning. */
interface DoctorReport {
  version: string;
  node: string;
  platform: string;
  /** Whether no check failed. */
  healthy: boolean;
  checks: { check: string; grade: DoctorFinding["grade"]; detail: string; fix: string | null }[];
}

const URL_IN_TEXT = /\b[a-z][a-z\d+.-]{1,20}:\/\/[^\s"'<>()]+/gi;

const SECRET_NAME = /KEY|SECRET|TOKEN|PASSWORD/;

/** A shorter value could be part of an ordinary word. */
const SHORTEST_SECRET = 8;

/** Prints one line per check, or a report in JSON; returns whether no check found a fault. */
export async function doctor(env: Env, { json = false }: { json?: boolean } = {}): Promise<boolean> {
  const findings = await examine(env);
  const report = toDoctorReport(findings, env);
  if (json) console.log(JSON.stringify(report, null, 2));
  else printFindings(findings);
  return report.healthy;
}

function printFindings(findings: readonly DoctorFinding[]): void {
  for (const { label, grade, detail, fix } of findings) {
    console.log(`${grade.padEnd(5)} ${label}: ${detail}.${fix ? ` ${fix}` : ""}`);
  }
}

async function examine(env: Env): Promise<DoctorFinding[]> {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fix = "See docs/reference/configuration.md.";
    return error.problems.map((detail) => ({ label: "settings", grade: "fail", detail, fix }));
  }
  const dataDir = resolve(config.dataDir);
  const { found, hasOthers } = await examineStore(config, dataDir);
  return [
    { label: "settings", grade: "ok", detail: "all are valid" },
    await checkDisk(dataDir),
    ...found,
    checkSecrets(config),
    ...((await isPresent(dataDir)) || config.media ? [await checkMediaStore(config, dataDir)] : []),
    checkOutgoingPolicy(config, hasOthers),
    await examineBaileys(),
    await checkNetwork(config),
    await checkPort(config, await isLocked(config.dataDir)),
  ];
}

interface StoreFindings {
  found: DoctorFinding[];
  /** Whether there is a second account; undefined if the database cannot be read. */
  hasOthers?: boolean;
}

/** Checks keys and accounts in the database. Does not start a database that was never started. */
async function examineStore(config: Config, dataDir: string): Promise<StoreFindings> {
  if (!config.databaseUrl && !(await hasOwnDatabase(dataDir))) {
    return {
      found: [{ label: "database", grade: "ok", detail: "its own PostgreSQL is created at the first start" }],
    };
  }
  const undo = new CleanupStack();
  try {
    const { database, description } = await openCommandDatabase(config, undo);
    const found = await checkDatabase(database.db, description).catch((error) =>
      throwDatabaseStartError(error, description),
    );
    const isReady = found.every(({ grade, label }) => label !== "migrations" || grade === "ok");
    if (!isReady) return { found };
    found.push(...(await examineKeys(config, dataDir, database.db)));
    const { EXTENSIONS } = await import("../processes/extensions.ts");
    for (const { examine: examinePart } of EXTENSIONS)
      found.push(...((await examinePart?.(database.db, config)) ?? []));
    found.push(await checkSessions(database.db));
    found.push(await examineVersion(config, database.db));
    found.push(await checkKeyScopes(database.db));
    return { found, hasOthers: await hasOtherAccounts(database.db) };
  } catch (error) {
    const detail = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
    return { found: [{ label: "database", grade: "fail", detail }] };
  } finally {
    await undo.run();
  }
}

async function examineVersion(config: Config, db: Db): Promise<DoctorFinding> {
  const outgoing = createSafeFetch(config);
  return checkClientVersion(db, config, outgoing).finally(() => outgoing.close());
}

async function examineKeys(config: Config, dataDir: string, db: Db): Promise<DoctorFinding[]> {
  const key = config.secretKey?.reveal() ?? (await findGeneratedKey(dataDir, "secret-key"));
  if (key === undefined) {
    const fix = "Restore it from a copy, or set WAYGATE_SECRET_KEY.";
    return [{ label: "secret key", grade: "fail", detail: `${dataDir}/secret-key is missing`, fix }];
  }
  return [await checkSecretKey(db, createSecretBox(key, config.secretKeySecond?.reveal()))];
}

/** Whether this version of Node can load Baileys. */
async function examineBaileys(): Promise<DoctorFinding> {
  const label = "Baileys";
  try {
    await loadBaileys({ url: undefined, rootKey: undefined, onFailure: () => {} });
    return { label, grade: "ok", detail: `it loads on Node ${process.version}` };
  } catch (error) {
    const detail = `it cannot be loaded on Node ${process.version} (${error instanceof Error ? error.message : error})`;
    const fix =
      "Install Waygate again with npm ci, on a Node version that package.json allows under engines.";
    return { label, grade: "fail", detail, fix };
  }
}

async function hasOwnDatabase(dataDir: string): Promise<boolean> {
  if (!(await isPresent(dataDir))) return false;
  return isPresent((await findPostgresHome(await realpath(dataDir))).data);
}

/** Whether a gateway is running on this data directory. */
async function isLocked(dataDir: string): Promise<boolean> {
  if (!(await isPresent(dataDir))) return false;
  const lock = await openDataDir(dataDir).catch(() => undefined);
  await lock?.release();
  return lock === undefined;
}

/** The findings for an issue: without secrets, the paths of URLs, and the name of the user in the home directory. */
export function toDoctorReport(findings: readonly DoctorFinding[], env: Env): DoctorReport {
  const mask = createMask(env, homedir());
  return {
    version: packageVersion(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    healthy: findings.every(({ grade }) => grade !== "fail"),
    checks: findings.map(({ label, grade, detail, fix }) => ({
      check: label.toLowerCase().replaceAll(" ", "_"),
      grade,
      detail: mask(detail),
      fix: fix === undefined ? null : mask(fix),
    })),
  };
}

function createMask(env: Env, home: string): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value = ""]) =>
    SECRET_NAME.test(name) && value.trim().length >= SHORTEST_SECRET ? [value.trim()] : [],
  );
  return (text) => {
    const hidden = secrets.reduce((shown, secret) => shown.replaceAll(secret, "****"), text);
    const masked = hidden.replace(URL_IN_TEXT, maskUrl);
    return home.length > 1 ? masked.replaceAll(home, "~") : masked;
  };
}
