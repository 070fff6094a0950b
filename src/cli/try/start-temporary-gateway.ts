import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Env } from "../../platform/config/config.ts";
import { startEmbeddedPostgres } from "../../platform/embedded-postgres/embedded-postgres.ts";
import { findPostgresHome, isPresent } from "../../platform/embedded-postgres/postgres-home.ts";
import { createLog } from "../../platform/log/log.ts";
import { packageRoot } from "../../platform/package-version.ts";
import { CommandError } from "../command-error.ts";

const UP_WITHIN_MS = 120_000;

const STOP_WITHIN_MS = 25_000;

interface ScratchOwner {
  email: string;
  password: string;
}

/** A gateway of its own process on a free port, with an empty data directory. */
export interface TemporaryGateway {
  readonly baseUrl: string;
  readonly owner: ScratchOwner;
  readonly dataDir: string;
  /** Kills it with SIGKILL, and starts it again on the same data and port; returns the id of the killed process. */
  killAndRestart(): Promise<number>;
  /** Stops it, and deletes the data unless they are kept. */
  stop(options: { keep: boolean }): Promise<void>;
}

/** Throws CommandError with the output of a gateway that does not start. */
export async function startTemporaryGateway(env: Env): Promise<TemporaryGateway> {
  const owner = { email: "owner@localhost", password: randomBytes(18).toString("base64url") };
  const dataDir = await createScratchData("waygate-try-");
  const program = join(packageRoot(), "bin", "waygate.mjs");
  const gateway = new GatewayProcess(program, scratchSettings(env, dataDir, owner));
  const stop = async ({ keep }: { keep: boolean }): Promise<void> => {
    await gateway.stop();
    if (!keep) await removeScratchData(dataDir, env.PG_BIN_DIR);
  };
  const killAndRestart = async (): Promise<number> => {
    const { pid } = gateway;
    await gateway.kill();
    await gateway.start();
    return pid;
  };
  try {
    return { baseUrl: await gateway.start(), owner, dataDir, killAndRestart, stop };
  } catch (error) {
    await stop({ keep: false });
    throw new CommandError((error as Error).message, { cause: error });
  }
}

/** The environment of a gateway on scratch data, without settings that would point it at the user's data. */
function scratchSettings(env: Env, dataDir: string, owner: ScratchOwner): NodeJS.ProcessEnv {
  const isOurs = (name: string) => /^(WAYGATE_.*|DATABASE_URL|PORT|NODE_ENV)$/.test(name);
  const rest = Object.entries(env).filter(([name]) => !isOurs(name));
  return {
    ...Object.fromEntries(rest),
    WAYGATE_DATA_DIR: dataDir,
    WAYGATE_PORT: "0",
    WAYGATE_OWNER_EMAIL: owner.email,
    WAYGATE_OWNER_PASSWORD: owner.password,
    WAYGATE_ALLOWED_HOSTS: "loopback",
    // An address where nothing listens: only the sandbox network is used.
    WAYGATE_WHATSAPP_URL: "ws://127.0.0.1:1/",
    WAYGATE_LOG_LEVEL: "warn",
    // A text that is being sent when the gateway is killed waits so long for a receipt before it is sent again.
    WAYGATE_UNKNOWN_OUTCOME_WAIT: "2s",
  };
}

/** An empty data directory for a gateway that is only tried. */
async function createScratchData(prefix: string): Promise<string> {
  return mkdtemp(join(await realpath(tmpdir()), prefix));
}

/** Deletes a data directory, and stops a database that a killed gateway has left running. */
async function removeScratchData(dataDir: string, binDir: string | undefined): Promise<void> {
  const home = await findPostgresHome(dataDir).catch(() => undefined);
  // PostgreSQL deletes this file when it stops.
  if (home && (await isPresent(join(home.data, "postmaster.pid")))) {
    await stopDatabase(dataDir, binDir).catch(() => {});
  }
  for (const path of [home?.path, dataDir])
    if (path) await rm(path, { recursive: true, force: true, maxRetries: 5 });
}

async function stopDatabase(dataDir: string, binDir: string | undefined): Promise<void> {
  const database = await startEmbeddedPostgres({ dataDir, binDir, log: createLog("silent") });
  await database.stop();
}

/** A gateway as a separate process that can be killed and restarted on the same data. */
class GatewayProcess {
  readonly #program: string;
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  #printed = "";
  #isOver = false;
  /** From the second start on: its URL stays the same. */
  #port: string | undefined;

  constructor(program: string, env: NodeJS.ProcessEnv) {
    this.#program = program;
    this.#env = env;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Returns its URL; if it does not start, throws with its output. */
  async start(): Promise<string> {
    if (this.#isOver) throw new Error("The gateway was stopped for the last time.");
    this.#printed = "";
    const child = spawn(process.execPath, [this.#program, "serve"], {
      env: { ...this.#env, ...(this.#port && { WAYGATE_PORT: this.#port }) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    process.once("exit", () => child.kill("SIGKILL"));
    const up = new Promise<string>((resolve) => {
      for (const channel of [child.stdout, child.stderr]) {
        channel.setEncoding("utf8").on("data", (text: string) => {
          this.#printed += text;
          const url = this.#printed.match(/^Waygate listens on (http:\S+)/m)?.[1];
          if (url) resolve(url);
        });
      }
    });
    const ended = once(child, "exit").then(() => undefined);
    const url = await Promise.race([up, ended, delay(UP_WITHIN_MS, undefined, { ref: false })]);
    if (url) {
      this.#port = new URL(url).port;
      return url;
    }
    throw new Error(`The gateway did not start. Its output:\n${this.#printed.trim()}`);
  }

  /** Kills it with SIGKILL. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Stops it gracefully for the last time. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.race([this.#end("SIGINT"), delay(STOP_WITHIN_MS, undefined, { ref: false })]);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}
