import { randomBytes } from "node:crypto";
import { link, open, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { findProcess, isOfThisBoot } from "./running-process.ts";

/** A held lock, or information about its holder. */
export type FileLockResult =
  /** `isPredecessorGone`: the holder released the lock or has certainly ended. If false, it may still run. */
  | { isAcquired: true; isPredecessorGone: boolean; release(): Promise<void> }
  | { isAcquired: false; pid: number; host: string };

interface LockFileContent {
  pid: number;
  started: string;
  host: string;
  token: string;
}

const HEARTBEAT_MS = 2_000;
/** Longer than a stalled process can run without having fenced itself in the database. */
const WATCH_MS = 12_000;
const VERIFY_AFTER_MS = 50;

/**
 * Acquires the lock file for this process, also from a dead holder; never waits for a live one. A holder on
 * another machine counts as dead if it shows no sign of life for 12 s (the default).
 */
export async function acquireFileLock(path: string, { watchMs = WATCH_MS } = {}): Promise<FileLockResult> {
  const started = findProcess(process.pid)?.started ?? "";
  const own: LockFileContent = {
    pid: process.pid,
    started,
    host: hostname(),
    token: randomBytes(8).toString("hex"),
  };
  const draft = `${path}.${own.token}`;
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    return await claim(path, draft, own, watchMs);
  } finally {
    await rm(draft, { force: true });
  }
}

async function claim(
  path: string,
  draft: string,
  own: LockFileContent,
  watchMs: number,
): Promise<FileLockResult> {
  let isPredecessorGone = true;
  for (let isContested = false; ; isContested = true) {
    await tryLink(draft, path);
    // Two processes that remove the same dead claim can interfere and move a live claim away for a moment.
    if (isContested) await sleep(VERIFY_AFTER_MS);
    const holder = await readClaim(path);
    if (holder?.token === own.token)
      return { isAcquired: true, isPredecessorGone, release: keepAlive(path, own) };
    if (holder === undefined) continue;
    const { pid, host } = holder;
    const isHere = host === hostname() && isOfThisBoot(holder.started);
    const isAlive = isHere ? isRunning(holder) : await isFileChanging(path, watchMs);
    if (isAlive) return { isAcquired: false, pid, host };
    if (!isHere) isPredecessorGone = false;
    await removeClaim(path, holder);
  }
}

async function tryLink(draft: string, path: string): Promise<void> {
  await link(draft, path).catch((error) => {
    if (error.code !== "EEXIST") throw error;
  });
}

async function readClaim(path: string): Promise<LockFileContent | undefined> {
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return { pid: 0, started: "", host: "an unknown machine", token: text };
  }
}

function isRunning({ pid, started }: LockFileContent): boolean {
  return findProcess(pid)?.started === started;
}

/**
 * Another machine's processes are invisible and its clock may differ: only a change of the file proves life.
 */
async function isFileChanging(path: string, watchMs: number): Promise<boolean> {
  const before = await modifiedAt(path);
  for (const until = performance.now() + watchMs; performance.now() < until; await sleep(100)) {
    const now = await modifiedAt(path);
    if (now === undefined) return false;
    if (now !== before) return true;
  }
  return false;
}

async function removeClaim(path: string, dead: LockFileContent): Promise<void> {
  const aside = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  // Another process may have put a live claim there in the meantime: restore it.
  if ((await readClaim(aside))?.token !== dead.token) await tryLink(aside, path);
  await rm(aside, { force: true });
}

function keepAlive(path: string, own: LockFileContent): () => Promise<void> {
  const timer = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), HEARTBEAT_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    if ((await readClaim(path))?.token === own.token) await rm(path, { force: true });
  };
}

/** Opens the file, because a shared file system may return cached attributes until a file is reopened. */
async function modifiedAt(path: string): Promise<number | undefined> {
  const file = await open(path).catch((error) => {
    if (error.code !== "ENOENT") throw error;
  });
  try {
    return (await file?.stat())?.mtimeMs;
  } finally {
    await file?.close();
  }
}
