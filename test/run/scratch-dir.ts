import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../../src/platform/package-version.ts";

const CLEAR_UP = join(packageRoot(), "test/run/clear-up.mjs");

/** A directory that is removed with its running databases afterwards, even if the test run is killed. */
export interface ScratchDir {
  path: string;
  remove(): Promise<void>;
}

/** Creates one in the system's temporary folder. */
export async function makeScratchDir(prefix = "waygate-test-"): Promise<ScratchDir> {
  const path = await mkdtemp(join(await realpath(tmpdir()), prefix));
  // A killed process cannot clean up. This watcher notices the closed pipe and does.
  const watcher = spawn(process.execPath, [CLEAR_UP, path], {
    stdio: ["pipe", "ignore", "inherit"],
    detached: true,
    cwd: "/",
  });
  watcher.unref();
  const exited = once(watcher, "exit");
  const remove = async (): Promise<void> => {
    // Keeps Node alive, which would exit with code 0 after a failed set-up.
    watcher.ref();
    watcher.stdin.end();
    await exited;
  };
  return { path, remove };
}
