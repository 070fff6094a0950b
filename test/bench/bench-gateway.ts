import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "../../src/client/client.ts";
import { openDataDir } from "../../src/platform/config/data-dir.ts";
import { startEmbeddedPostgres } from "../../src/platform/embedded-postgres/embedded-postgres.ts";
import { freePortsFor } from "../../src/platform/embedded-postgres/free-ports-for.ts";
import { createLog } from "../../src/platform/log/log.ts";
import { packageRoot } from "../../src/platform/package-version.ts";
import { makeScratchDir, type ScratchDir } from "../run/scratch-dir.ts";
import { OWNER, signIn } from "../sign-in.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Puts all temporary files of this process into one directory. The databases in it, and the gateways that they belong
 * to, end with the process however it ends.
 */
export async function openBenchScratch(): Promise<ScratchDir> {
  for (const signal of SIGNALS) process.once(signal, () => process.exit(128 + constants.signals[signal]));
  const scratch = await makeScratchDir("waygate-bench-");
  // PostgreSQL runs as another user, who must be able to enter it.
  await chmod(scratch.path, 0o711);
  process.env.TMPDIR = scratch.path;
  return scratch;
}

/** A database that the bench starts, so that it can connect to it too. */
export interface BenchDatabase {
  /** Over TCP. */
  url: string;
  /** Over the Unix socket if there is one, as with an embedded database. */
  gatewayUrl: string;
  dataDir: string;
  stop(): Promise<void>;
}

export async function startBenchDatabase(settings: Record<string, string> = {}): Promise<BenchDatabase> {
  const dataDir = await makeDataDir();
  const held = await openDataDir(dataDir);
  const postgres = await startEmbeddedPostgres({ dataDir: held.path, log: createLog("silent"), settings });
  return {
    url: postgres.url,
    gatewayUrl: postgres.socketUrl ?? postgres.url,
    dataDir,
    async stop() {
      await postgres.stop();
      await held.release();
      await removeDataDir(dataDir);
    },
  };
}

/** The built gateway in its own process, with an embedded database in a scratch directory. */
export interface BenchGateway {
  url: string;
  pid: number;
  dataDir: string;
  /** From the spawn to the first 200 of /health. */
  startMs: number;
  age(): number;
  owner: Client;
  /** The owner's session token. */
  token: string;
  stop(): Promise<void>;
}

export interface BenchGatewayOptions {
  /** Without one the gateway starts an embedded database. */
  databaseUrl?: string;
  settings?: Record<string, string>;
}

export async function makeDataDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), "waygate-bench-"));
}

export async function removeDataDir(dataDir: string): Promise<void> {
  await rm(dataDir, { recursive: true, force: true });
}

export async function startBenchGateway(
  dataDir: string,
  { databaseUrl, settings = {} }: BenchGatewayOptions = {},
): Promise<BenchGateway> {
  const { value: port } = await freePortsFor(`bench gateway ${dataDir}`).next();
  const url = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const child = spawn(process.execPath, [join(packageRoot(), "dist/program/main.js"), "serve"], {
    env: {
      PATH: process.env.PATH,
      TMPDIR: tmpdir(),
      WAYGATE_PORT: String(port),
      WAYGATE_DATA_DIR: dataDir,
      WAYGATE_OWNER_EMAIL: OWNER.email,
      WAYGATE_OWNER_PASSWORD: OWNER.password,
      WAYGATE_LOG_LEVEL: "warn",
      WAYGATE_ALLOWED_HOSTS: "external,private,loopback",
      // Nothing listens there: the bench must never reach the real network.
      WAYGATE_WHATSAPP_URL: "ws://127.0.0.1:1/",
      NODE_ENV: "production",
      ...(databaseUrl && {
        DATABASE_URL: databaseUrl,
        WAYGATE_SECRET_KEY: randomBytes(32).toString("base64"),
      }),
      ...settings,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  // Kills the gateway if the bench ends early. The watcher of the scratch directory stops the database.
  const endWithBench = () => void child.kill("SIGKILL");
  process.once("exit", endWithBench);
  child.once("exit", () => process.off("exit", endWithBench));
  await waitForHealth(url, child);
  const startMs = performance.now() - began;
  const { client: owner, token } = await signIn(url);
  const age = () => performance.now() - began;
  return { url, pid: child.pid ?? 0, dataDir, startMs, age, owner, token, stop: () => stop(child) };
}

async function waitForHealth(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const response = await fetch(`${url}/health`).catch(() => undefined);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`the gateway ended with ${child.exitCode}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGINT");
  await ended;
}
