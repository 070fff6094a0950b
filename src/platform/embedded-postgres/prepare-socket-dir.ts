import { once } from "node:events";
import { lchown, mkdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { PostgresHome } from "./postgres-home.ts";

/** Longest path of a Unix socket on macOS. Linux allows four bytes more; Node truncates longer paths. */
const MAX_PATH_BYTES = 103;
/** PostgreSQL's name for its socket, with the longest port. */
const LONGEST_NAME = ".s.PGSQL.65535";
/** A comma separates directories in PostgreSQL's setting, and a backslash escapes in its files. */
const UNSAFE_IN_SETTING = /[,\\\p{Cc}]/u;

/**
 * The directory for PostgreSQL's Unix socket, made and tried out; undefined if the system, the file system or
 * the length of the path allows none. No server may be running on this home.
 */
export async function prepareSocketDir(home: PostgresHome): Promise<string | undefined> {
  const { socketDir } = home;
  if (process.platform === "win32" || UNSAFE_IN_SETTING.test(socketDir)) return undefined;
  if (Buffer.byteLength(join(socketDir, LONGEST_NAME)) > MAX_PATH_BYTES) return undefined;
  try {
    await emptySocketDir(home);
    await tryListening(join(socketDir, "probe"));
    return socketDir;
  } catch {
    return undefined;
  }
}

/** Removes what a killed server left: its lock file names a process id that may be in use again. */
export async function emptySocketDir({ socketDir, runner }: PostgresHome): Promise<void> {
  await rm(socketDir, { recursive: true, force: true });
  await mkdir(socketDir, { mode: 0o700 });
  if (runner !== undefined) await lchown(socketDir, runner.uid, runner.gid);
}

/** Some shared and network file systems store no sockets. PostgreSQL would then not start. */
async function tryListening(path: string): Promise<void> {
  const server = createServer().listen(path);
  try {
    await once(server, "listening");
  } finally {
    server.close();
  }
}
