import { lstat, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** The user that runs PostgreSQL if the gateway is root, since PostgreSQL refuses to run as root. */
export interface PostgresOsUser {
  uid: number;
  gid: number;
}

const NOBODY: PostgresOsUser = { uid: 65534, gid: 65534 };

/**
 * The user that must run PostgreSQL: undefined is the current user; as root, the database's owner or nobody.
 */
export async function findPostgresOsUser(database: string): Promise<PostgresOsUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await lstat(database).catch(() => undefined);
  return owner === undefined || owner.uid === 0 ? NOBODY : { uid: owner.uid, gid: owner.gid };
}

/** The first directory, from the root down to `path`, that the runner cannot enter. */
export async function findInaccessibleDirectory(
  path: string,
  runner: PostgresOsUser | undefined,
): Promise<string | undefined> {
  if (runner === undefined) return undefined;
  const parent = dirname(path);
  const above = parent === path ? undefined : await findInaccessibleDirectory(parent, runner);
  if (above !== undefined) return above;
  return (await canPass(path, runner)) ? undefined : path;
}

async function canPass(path: string, { uid, gid }: PostgresOsUser): Promise<boolean> {
  const facts = await stat(path);
  if (facts.uid === uid) return (facts.mode & 0o100) !== 0;
  if (facts.gid === gid) return (facts.mode & 0o010) !== 0;
  return (facts.mode & 0o001) !== 0;
}
