import { randomBytes } from "node:crypto";
import { access, constants, link, open, readFile, realpath, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { acquireFileLock } from "../files/acquire-file-lock.ts";
import { makeDirectory } from "../files/make-directory.ts";

/** The directory of this node's own files, locked by this process until released. */
export interface DataDir {
  path: string;
  /** Stable across restarts. */
  node_id: string;
  /** Whether the previous process has certainly ended. If false, it may still run on a disconnected machine. */
  isPredecessorGone: boolean;
  release(): Promise<void>;
}

/** Creates the directory (0700) and locks it; throws a clear Error if it cannot or another process holds it. */
export async function openDataDir(path: string): Promise<DataDir> {
  const real = await prepareDirectory(resolve(path));
  const lock = await acquireFileLock(join(real, "lock")).catch((error: unknown) => {
    throw unusable(real, error);
  });
  if (!lock.isAcquired) {
    throw new Error(
      `The data directory ${real} is in use by process ${lock.pid} on ${lock.host}. ` +
        "Stop that one first, or set WAYGATE_DATA_DIR to another directory.",
    );
  }
  try {
    const node_id = await readOrMake(join(real, "node-id"), () => `node-${randomBytes(8).toString("hex")}`);
    return { path: real, node_id, isPredecessorGone: lock.isPredecessorGone, release: lock.release };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * The key that seals secrets at rest, generated (0600) on the first start; throws if an existing key is
 * broken.
 */
export async function loadOrCreateSecretKey(dataDir: string): Promise<string> {
  return readOrMake(join(dataDir, "secret-key"), () => randomBytes(32).toString("base64url"));
}

/** The key of backups if WAYGATE_BACKUP_KEY is not set; created like the secret key. */
export async function loadOrCreateBackupKey(dataDir: string): Promise<string> {
  return readOrMake(join(dataDir, "backup-key"), () => randomBytes(32).toString("base64url"));
}

/** A generated key in the data directory; undefined if there is none. */
export async function findGeneratedKey(
  dataDir: string,
  name: "secret-key" | "backup-key",
): Promise<string | undefined> {
  return readStored(join(dataDir, name));
}

async function prepareDirectory(path: string): Promise<string> {
  try {
    await makeDirectory(path);
    return await realpath(path);
  } catch (error) {
    throw unusable(path, codeOf(error) === "ENOENT" ? await reasonAbove(path, error) : error);
  }
}

/** Below a read-only file system, Node reports an absent folder. */
async function reasonAbove(path: string, error: unknown): Promise<unknown> {
  const parent = dirname(path);
  const isThere = await stat(parent).then(
    () => true,
    () => false,
  );
  if (!isThere && parent !== path) return reasonAbove(parent, error);
  return access(parent, constants.W_OK).then(
    () => error,
    (refused: unknown) => refused,
  );
}

/** A small file that is created once, atomically, and never changed. */
async function readOrMake(path: string, make: () => string): Promise<string> {
  const stored = await readStored(path);
  if (stored !== undefined) return stored;
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    const file = await open(draft, "wx", 0o600);
    await file.writeFile(`${make()}\n`);
    await file.sync();
    await file.close();
    await link(draft, path).catch(ignore("EEXIST"));
  } finally {
    await rm(draft, { force: true });
  }
  return (await readStored(path)) ?? make();
}

async function readStored(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read (${codeOf(error)}); give this user the right to read it.`);
  });
  if (text === undefined) return undefined;
  const value = text.trim();
  if (value.length < 16) throw new Error(`${path} is empty or incomplete. Restore the file from a copy.`);
  return value;
}

const UNUSABLE: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  EEXIST: "a file has that name",
  ENOTDIR: "a part of the path is a file",
  ENOENT: "it does not exist, and cannot be created",
  ENOSPC: "the disk is full",
};

function unusable(path: string, error: unknown): Error {
  const code = codeOf(error);
  const reason = UNUSABLE[code] ?? (code || (error instanceof Error ? error.message : String(error)));
  return new Error(
    `The data directory ${path} cannot be used: ${reason}. Set WAYGATE_DATA_DIR to one that can.`,
  );
}

function ignore(code: string): (error: unknown) => void {
  return (error) => {
    if (codeOf(error) !== code) throw error;
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
