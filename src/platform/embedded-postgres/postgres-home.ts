import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findInaccessibleDirectory, findPostgresOsUser, type PostgresOsUser } from "./postgres-os-user.ts";

/** The directory of the embedded database, and the user that runs it. */
export interface PostgresHome {
  path: string;
  /** PostgreSQL's own data directory. */
  data: string;
  password: string;
  config: string;
  log: string;
  /** Only for PostgreSQL's Unix socket: emptied at every start, and closed to other users. */
  socketDir: string;
  runner: PostgresOsUser | undefined;
}

/** Holds the files of root's PostgreSQL if it cannot reach them in their own place. */
export const SHARED_DIR = "/var/lib/waygate";

/** Finds the database of a data directory (a real path), or the place for a new one. */
export async function findPostgresHome(dataDir: string): Promise<PostgresHome> {
  const inside = describeHome(
    join(dataDir, "postgres"),
    await findPostgresOsUser(join(dataDir, "postgres", "data")),
  );
  await refuseForeignPointer(dataDir, inside.runner);
  if (inside.runner === undefined) return inside;
  const outsidePath = sharedHomeOf(dataDir);
  const outside = describeHome(outsidePath, await findPostgresOsUser(join(outsidePath, "data")));
  if (await isPresent(outside.data)) return outside;
  const barrier = await makeTraversable(dataDir, inside.runner);
  if (barrier === undefined) return inside;
  if (await isPresent(inside.data)) {
    throw new Error(
      `User ${inside.runner.uid}, who owns the database in ${inside.data}, may not enter ${barrier}. Give that user access to the directory.`,
    );
  }
  await mkdir(SHARED_DIR, { recursive: true });
  await chmod(SHARED_DIR, 0o755);
  await writeFile(pointerIn(dataDir), `${outsidePath}\n`);
  return outside;
}

export async function isPresent(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

function describeHome(path: string, runner: PostgresOsUser | undefined): PostgresHome {
  return {
    path,
    data: join(path, "data"),
    password: join(path, "password"),
    config: join(path, "postgresql.conf"),
    log: join(path, "postgresql.log"),
    socketDir: join(path, "socket"),
    runner,
  };
}

function sharedHomeOf(dataDir: string): string {
  return join(SHARED_DIR, createHash("sha256").update(dataDir).digest("hex").slice(0, 12));
}

function pointerIn(dataDir: string): string {
  return join(dataDir, "postgres-is-in");
}

/** A data directory whose database is missing must not silently get an empty one, nor share another's. */
async function refuseForeignPointer(dataDir: string, runner: PostgresOsUser | undefined): Promise<void> {
  const target = (await readFile(pointerIn(dataDir), "utf8").catch(() => "")).trim();
  const own = sharedHomeOf(dataDir);
  if (target === "" || (target === own && runner !== undefined)) return;
  const remedy =
    target === own
      ? "Only root can start it"
      : `This directory was moved or copied. Move ${target} to ${own} to keep using it`;
  throw new Error(
    `The database of ${dataDir} is in ${target}. ${remedy}, or delete ${pointerIn(dataDir)} to start with an empty one.`,
  );
}

async function makeTraversable(dataDir: string, runner: PostgresOsUser): Promise<string | undefined> {
  const barrier = await findInaccessibleDirectory(dataDir, runner);
  if (barrier !== dataDir) return barrier;
  const { uid, mode } = await stat(dataDir);
  if (uid !== process.getuid?.()) return barrier;
  await chmod(dataDir, (mode & 0o7777) | 0o001);
  return undefined;
}
