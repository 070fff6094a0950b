import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../../src/platform/package-version.ts";

const CLEAR_UP = join(packageRoot(), "test/run/clear-up.mjs");

/** A directory of which nothing is left afterwards, no running database either, even when the test run is killed. */
export interface ScratchDir {
  path: string;
  remove(): Promise<void>;
}

/** Makes one below the system's place for temporary files. */
export async function makeScratchDir(prefix = "waygate-test-"): Promise<ScratchDir> {
  const path = await mkdtemp(join(await realpath(tmpdir()), prefix));
  // Whoever is killed cannot clear up; this process sees its end of the pipe close, and does.
  const watcher = spawn(process.execPath, [CLEAR_UP, path], {
    stdio: ["pipe", "ignore", "inherit"],
    detached: true,
    cwd: "/",
  });
  watcher.unref();
  const exited = once(watcher, "exit");
  const remove = async (): Promise<void> => {
    // A failed set-up waits here with nothing else under way, and Node would end with code 0.
    watcher.ref();
    watcher.stdin.end();
    await exited;
  };
  return { path, remove };
}
