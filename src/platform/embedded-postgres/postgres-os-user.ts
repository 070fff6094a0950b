import { createHash } from "node:crypto";
import { lstat, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** The user that runs PostgreSQL if the gateway is root, since PostgreSQL refuses to run as root. */
export interface PostgresOsUser {
  uid: number;
  gid: number;
}

/** Ids that no system gives to a user or a container (systemd's UIDS-GIDS). */
const UNUSED_IDS = { first: 60_706, last: 61_183 };

/**
 * The user that must run PostgreSQL: undefined is the current user; as root, the database's owner or a user of this
 * database alone. Another program of that user could read the files, and change who may sign in.
 */
export async function findPostgresOsUser(database: string): Promise<PostgresOsUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await lstat(database).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const taken = await readFile("/etc/passwd", "utf8").catch(() => "");
  const count = UNUSED_IDS.last - UNUSED_IDS.first + 1;
  const start = createHash("sha256").update(database).digest().readUInt32BE();
  for (let nth = 0; nth < count; nth += 1) {
    const id = UNUSED_IDS.first + ((start + nth) % count);
    if (!taken.includes(`:${id}:`)) return { uid: id, gid: id };
  }
  throw new Error(`Every user id from ${UNUSED_IDS.first} to ${UNUSED_IDS.last} is taken in /etc/passwd.`);
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
