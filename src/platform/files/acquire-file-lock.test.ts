import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { skipUnless } from "../../../test/run/skip-unless.ts";
import { acquireFileLock, type FileLockResult } from "./acquire-file-lock.ts";
import { findProcess } from "./running-process.ts";

/** Long enough, because no holder renews the lock in these tests. */
const SHORT = { watchMs: 300 };
const PAST = new Date(Date.now() - 3_600_000);

let root: string;
let lock: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "waygate-lock-"));
  lock = join(root, "lock");
});

afterEach(() => rm(root, { recursive: true, force: true }));

/** Renews the lock with a clock one hour behind, in a process that a pause of this one does not stop. */
const RENEW_LOCK = `const { utimesSync } = require("node:fs"); process.stdout.write("renewed");
  setInterval(() => { const at = Date.now() / 1000 - 3600; utimesSync(process.argv[1], at, at); }, 200);`;

async function beatElsewhere(): Promise<void> {
  const alive = spawn(process.execPath, ["-e", RENEW_LOCK, lock], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void alive.kill("SIGKILL"));
  await once(alive.stdout, "data");
}

/** A lock of this process, last renewed an hour ago by the local clock. */
async function lockedBy({ host = hostname(), started = "far away" }): Promise<void> {
  await writeFile(lock, JSON.stringify({ pid: process.pid, started, host, token: "1" }));
  await utimes(lock, PAST, PAST);
}

async function release(outcome: FileLockResult): Promise<void> {
  if (outcome.isAcquired) await outcome.release();
}

test("a lock that no process has left behind has no living predecessor", async () => {
  const outcome = await acquireFileLock(lock);
  expect(outcome).toMatchObject({ isAcquired: true, isPredecessorGone: true });
  await release(outcome);
  await expect(readFile(lock)).rejects.toThrow("ENOENT");
});

test("a living holder on another machine keeps the lock, however different its clock is", async () => {
  await lockedBy({ host: "another-container" });
  await beatElsewhere();
  expect(await acquireFileLock(lock)).toEqual({
    isAcquired: false,
    pid: process.pid,
    host: "another-container",
  });
});

test("a silent holder on another machine loses the lock, but is not proven dead", async () => {
  await lockedBy({ host: "another-container" });
  const outcome = await acquireFileLock(lock, SHORT);
  expect(outcome).toMatchObject({ isAcquired: true, isPredecessorGone: false });
  await release(outcome);
});

test("a process of this machine that no longer exists is proven dead without a waiting time", async () => {
  await lockedBy({ started: `${findProcess(process.pid)?.started}0` });
  const outcome = await acquireFileLock(lock, { watchMs: Number.POSITIVE_INFINITY });
  expect(outcome).toMatchObject({ isAcquired: true, isPredecessorGone: true });
  await release(outcome);
});

test(
  "a machine of the same name with another boot time may be another machine, as with pods",
  skipUnless(process.platform === "linux", "only Linux has a boot id"),
  async () => {
    await lockedBy({ started: "another boot/1" });
    await beatElsewhere();
    expect(await acquireFileLock(lock)).toMatchObject({ isAcquired: false });
  },
);

test("a torn lock file names no holder, so the process watches it for changes", async () => {
  await writeFile(lock, '{"pid": 1');
  const outcome = await acquireFileLock(lock, SHORT);
  expect(outcome).toMatchObject({ isAcquired: true, isPredecessorGone: false });
  await release(outcome);
});

test("a lock that is released while it is watched is acquired", async () => {
  await lockedBy({ host: "another-container" });
  const taking = acquireFileLock(lock, { watchMs: Number.POSITIVE_INFINITY });
  await rm(lock);
  const outcome = await taking;
  expect(outcome.isAcquired).toBe(true);
  await release(outcome);
});
