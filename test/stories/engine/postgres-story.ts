import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { pino } from "pino";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../../src/platform/embedded-postgres/embedded-postgres.ts";
import { findProcess } from "../../../src/platform/files/running-process.ts";
import { packageRoot } from "../../../src/platform/package-version.ts";
import { makeScratchDir, type ScratchDir } from "../../run/scratch-dir.ts";

/** A crash of the process loses nothing without fsync, and no test crashes the machine. */
const FAST = { fsync: "off" };

const PROGRAM = join(packageRoot(), "dist/test/run/postgres-owner.js");

export interface GatewayOwner {
  process: ChildProcess;
  /** Output once its database runs. Rejects with the output if it ends first. */
  up: Promise<{ url: string; socketUrl?: string; wasAlreadyRunning: boolean }>;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

export interface PostgresStory {
  directory(prefix?: string): Promise<string>;
  start(
    dataDir: string,
    more?: { binDir?: string; settings?: Record<string, string> },
  ): Promise<EmbeddedPostgres>;
  own(dataDir: string, as?: { uid: number; gid: number }): GatewayOwner;
  clear(): Promise<void>;
}

/** Scratch directories and databases, all removed by `clear()`. */
export function createPostgresStory(): PostgresStory {
  const directories: ScratchDir[] = [];
  const servers: EmbeddedPostgres[] = [];
  const owners: GatewayOwner[] = [];
  return {
    async directory(prefix = "waygate-postgres-") {
      const made = await makeScratchDir(prefix);
      directories.push(made);
      return made.path;
    },
    async start(dataDir, { binDir, settings = FAST } = {}) {
      const server = await startEmbeddedPostgres({
        dataDir,
        binDir,
        settings,
        log: pino({ level: "silent" }),
      });
      servers.push(server);
      return server;
    },
    own(dataDir, as) {
      const owner = spawnOwner(dataDir, as);
      owners.push(owner);
      return owner;
    },
    async clear() {
      await Promise.all(servers.splice(0).map((server) => server.stop()));
      await Promise.all(owners.splice(0).map((owner) => owner.kill("SIGTERM")));
      await Promise.all(directories.splice(0).map(({ remove }) => remove()));
    },
  };
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 60_000 });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** The pid in PostgreSQL's pid file. */
export async function postmasterOf(home: string): Promise<number> {
  return Number((await readFile(join(home, "data/postmaster.pid"), "utf8")).split("\n")[0]);
}

export function isAlive(pid: number): boolean {
  return findProcess(pid) !== undefined;
}

function spawnOwner(dataDir: string, as?: { uid: number; gid: number }): GatewayOwner {
  const child = spawn(process.execPath, [PROGRAM, dataDir, JSON.stringify(FAST)], {
    ...as,
    detached: true,
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  createInterface(child.stderr).on("line", (line) => lines.push(line));
  const ended = once(child, "exit");
  const up = Promise.race([
    once(createInterface(child.stdout), "line").then(([line]) => JSON.parse(line)),
    once(child, "close").then(() => Promise.reject(new Error(lines.join("\n")))),
  ]);
  up.catch(() => {});
  const kill = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await ended;
    }
    return child.exitCode;
  };
  return { process: child, up, kill };
}
