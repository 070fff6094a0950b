import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { open, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findProcess } from "../files/running-process.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import type { PostgresHome } from "./postgres-home.ts";
import { postgresLogSize, readPostgresLogFrom, rotatePostgresLog } from "./postgres-log.ts";
import { emptySocketDir } from "./prepare-socket-dir.ts";

/** Where a PostgreSQL server listens. */
export interface PostgresListener {
  /** On 127.0.0.1. */
  port: number;
  /** The directory of its Unix socket, which is the home's; undefined: it has none, or another. */
  socketDir: string | undefined;
}

/** A PostgreSQL server, running or ended. */
export interface Postmaster extends PostgresListener {
  pid: number;
  /** Resolves when the process has ended. */
  exited: Promise<void>;
  isRunning(): boolean;
}

interface PidFile extends PostgresListener {
  pid: number;
  status: string;
}

const READY_POLL_MS = 10;
const ALIVE_POLL_MS = 100;
const FAST_LIMIT_MS = 10_000;
const KILL_LIMIT_MS = 3_000;

/** Starts PostgreSQL in its own process group and waits until it is ready; throws with the end of its log. */
export async function launchPostmaster(
  home: PostgresHome,
  { postgres }: PostgresBinaries,
  { port, socketDir }: PostgresListener,
): Promise<Postmaster> {
  await disownPidFile(home);
  if (socketDir !== undefined) await emptySocketDir(home);
  await rotatePostgresLog(home.log).catch(() => {});
  const logStart = await postgresLogSize(home.log);
  const args = ["-D", home.data, "-c", `config_file=${home.config}`, "-p", `${port}`];
  const log = await open(home.log, "a", 0o600);
  const child = spawn(postgres, args, {
    ...home.runner,
    cwd: home.path,
    env: { LC_ALL: "C", TZ: "UTC" },
    detached: true,
    windowsHide: true,
    stdio: ["ignore", log.fd, log.fd],
  });
  const exited = new Promise<void>((resolve) =>
    child.once("exit", () => resolve()).once("error", () => resolve()),
  );
  const refused = await new Promise<Error | undefined>((resolve) => {
    child.once("spawn", () => resolve(undefined)).once("error", resolve);
  }).finally(() => log.close());
  if (refused !== undefined || child.pid === undefined)
    throw new Error(`${postgres} does not run (${refused?.message}).`);
  child.unref();
  const ready = await becomeReady(home, watch(child.pid, port, exited));
  if (ready !== undefined) return ready;
  throw new Error(
    `PostgreSQL exited while it was starting. Its output:\n${await readPostgresLogFrom(home.log, logStart)}`,
  );
}

/** The PostgreSQL that an earlier gateway left running on this database, if it is usable. */
export async function reattachPostmaster(
  home: PostgresHome,
  binaries: PostgresBinaries,
): Promise<Postmaster | undefined> {
  const found = await readPidFile(home);
  if (found === undefined || !isServerOf(home, found.pid)) return undefined;
  const postmaster = watch(found.pid, found.port, untilExited(found.pid));
  const isUsable = found.status !== "stopping" && (await isCurrent(found.pid, binaries));
  const ready = isUsable ? await becomeReady(home, postmaster) : undefined;
  if (ready === undefined) await shutDownPostmaster(postmaster);
  return ready;
}

/** The port of the server that runs on this home, if any. */
export async function findRunningPort(home: PostgresHome): Promise<number | undefined> {
  const found = await readPidFile(home);
  return found !== undefined && isServerOf(home, found.pid) ? found.port : undefined;
}

/** Fast shutdown, which rolls open transactions back; after a timeout an immediate shutdown, then SIGKILL. */
export async function shutDownPostmaster({ pid, exited, isRunning }: Postmaster): Promise<void> {
  for (const [signal, limitMs] of [
    ["SIGINT", FAST_LIMIT_MS],
    ["SIGQUIT", KILL_LIMIT_MS],
    ["SIGKILL", KILL_LIMIT_MS],
  ] as const) {
    if (!isRunning() || !trySignal(pid, signal)) return;
    if (await endsWithin(exited, limitMs)) return;
  }
}

function watch(pid: number, port: number, exited: Promise<void>): Postmaster {
  let running = true;
  const resolved = exited.then(() => {
    running = false;
  });
  return { pid, port, socketDir: undefined, exited: resolved, isRunning: () => running };
}

/**
 * The postmaster with the socket that it really has, if any. Waits as long as the process lives: after a crash
 * PostgreSQL first replays its log. Undefined if it ends.
 */
async function becomeReady(home: PostgresHome, postmaster: Postmaster): Promise<Postmaster | undefined> {
  for (; postmaster.isRunning(); await sleep(READY_POLL_MS)) {
    const now = await readPidFile(home);
    if (now?.pid !== postmaster.pid) continue;
    if (now.status === "ready") return { ...postmaster, socketDir: now.socketDir };
    if (now.status === "stopping") return undefined;
  }
  return undefined;
}

async function readPidFile(home: PostgresHome): Promise<PidFile | undefined> {
  const text = await readFile(join(home.data, "postmaster.pid"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split("\n");
  return {
    pid: Number(lines[0]),
    port: Number(lines[3]),
    socketDir: lines[4] === home.socketDir ? home.socketDir : undefined,
    status: lines[7]?.trim() ?? "",
  };
}

function isServerOf(home: PostgresHome, pid: number): boolean {
  const running = findProcess(pid);
  if (running === undefined) return false;
  return process.platform === "win32" || `${running.command.join(" ")} `.includes(` -D ${home.data} `);
}

/**
 * False after an update of the programs: the server still loads parts of the old ones, which may be deleted.
 */
async function isCurrent(pid: number, { postgres }: PostgresBinaries): Promise<boolean> {
  const path = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
  if (path !== undefined) return !path.endsWith(" (deleted)") && findProcess(pid)?.command[0] === postgres;
  return findProcess(pid)?.command.join(" ").startsWith(postgres) ?? false;
}

/**
 * PostgreSQL refuses to start if the process id in its pid file now belongs to another program of the same
 * user or to a zombie. The gateway's own id passes. The file stays, because it also guards against server
 * processes that have not ended yet.
 */
async function disownPidFile(home: PostgresHome): Promise<void> {
  const found = await readPidFile(home);
  if (found === undefined || isServerOf(home, found.pid)) return;
  const file = await open(join(home.data, "postmaster.pid"), constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
  try {
    const [, ...rest] = (await file.readFile("utf8")).split("\n");
    await file.truncate(0);
    await file.write([String(process.pid), ...rest].join("\n"), 0);
  } finally {
    await file.close();
  }
}

function trySignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

async function endsWithin(exited: Promise<void>, limitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(limitMs, false, { signal: timer.signal }).catch(() => false);
  const ended = await Promise.race([exited.then(() => true), late]);
  timer.abort();
  return ended;
}

async function untilExited(pid: number): Promise<void> {
  const { started } = findProcess(pid) ?? {};
  while (findProcess(pid)?.started === started && started !== undefined) {
    await sleep(ALIVE_POLL_MS, undefined, { ref: false });
  }
}
