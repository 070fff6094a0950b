import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { findProcess } from "./process-table.ts";

/** A lock that is held, or what is known of its holder. */
export type LockOutcome =
  | { held: true; release(): Promise<void> }
  | { held: false; pid: number; host: string };

interface Claim {
  pid: number;
  started: string;
  host: string;
  token: string;
}

const SIGN_OF_LIFE_MS = 2_000;
const WATCH_MS = 5_000;
const SETTLE_MS = 50;

/** Takes the lock file for this process, also from a holder that has died; never waits for a living one. */
export async function takeFileLock(path: string): Promise<LockOutcome> {
  const started = findProcess(process.pid)?.started ?? "";
  const mine: Claim = { pid: process.pid, started, host: hostname(), token: randomBytes(8).toString("hex") };
  const draft = `${path}.${mine.token}`;
  await writeFile(draft, JSON.stringify(mine), { mode: 0o600 });
  try {
    return await claim(path, draft, mine);
  } finally {
    await rm(draft, { force: true });
  }
}

async function claim(path: string, draft: string, mine: Claim): Promise<LockOutcome> {
  for (let isContested = false; ; isContested = true) {
    await tryLink(draft, path);
    // Two that remove the same dead claim can cross, and move a living one away for a moment.
    if (isContested) await sleep(SETTLE_MS);
    const holder = await readClaim(path);
    if (holder?.token === mine.token) return { held: true, release: keepAlive(path, mine) };
    if (holder === undefined) continue;
    if (await isHeld(path, holder)) return { held: false, pid: holder.pid, host: holder.host };
    await removeClaim(path, holder);
  }
}

async function tryLink(draft: string, path: string): Promise<void> {
  await link(draft, path).catch((error) => {
    if (error.code !== "EEXIST") throw error;
  });
}

async function readClaim(path: string): Promise<Claim | undefined> {
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return { pid: 0, started: "", host: hostname(), token: text };
  }
}

async function isHeld(path: string, { pid, started, host }: Claim): Promise<boolean> {
  if (host === hostname()) return findProcess(pid)?.started === started;
  // Another machine or container: its processes cannot be seen from here, only its signs of life.
  const before = await modifiedAt(path);
  if (before === undefined || Date.now() - before > 10 * SIGN_OF_LIFE_MS) return false;
  for (const until = performance.now() + WATCH_MS; performance.now() < until; await sleep(100)) {
    if ((await modifiedAt(path)) !== before) return true;
  }
  return false;
}

async function removeClaim(path: string, dead: Claim): Promise<void> {
  const aside = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  // Somebody else may have been quicker and put a living claim there: it goes back.
  if ((await readClaim(aside))?.token !== dead.token) await tryLink(aside, path);
  await rm(aside, { force: true });
}

function keepAlive(path: string, mine: Claim): () => Promise<void> {
  const timer = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), SIGN_OF_LIFE_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    if ((await readClaim(path))?.token === mine.token) await rm(path, { force: true });
  };
}

async function modifiedAt(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}
