import { LRUCache } from "lru-cache";
import type { Jid, Session } from "../../network/driver.ts";
import { type Db, readDatabaseTime } from "../../platform/db/database.ts";
import { maxEntries } from "../../platform/limits/max-entries.ts";
import type { Log } from "../../platform/log/log.ts";
import { createRateLimitedQuery } from "./group-reader.ts";
import { type GroupInstance, saveGroups } from "./save-groups.ts";

/** In addition to the customers' own queries. */
const PER_MINUTE = 10;
const REMEMBERED = 50_000;
const REMEMBERED_MS = 3_600_000;

export interface GroupFetcherDeps {
  db: Db;
  log: Log;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
}

/**
 * Returns a function to call for every chat in a group. It asks the network once about an unknown group, so
 * that its conversation has a name. This runs in the background, and a failure is retried with a later
 * message.
 */
export function createGroupFetcher({ db, log, connectedSession }: GroupFetcherDeps) {
  const seen = new LRUCache<string, true>({ ...maxEntries(REMEMBERED), ttl: REMEMBERED_MS });
  const query = createRateLimitedQuery(PER_MINUTE);

  async function fetchGroup(owner: GroupInstance, jid: Jid): Promise<boolean> {
    if (await isKnown(db, owner.id, jid)) return true;
    const requestedAt = await readDatabaseTime(db);
    const result = await connectedSession(owner.id)?.groups?.get(jid);
    if (result?.outcome === "done") await saveGroups(db, owner, [result.value], requestedAt);
    return result?.outcome === "done" || result?.outcome === "refused";
  }

  return (owner: GroupInstance, jid: Jid): void => {
    const key = `${owner.id} ${jid}`;
    if (seen.has(key)) return;
    seen.set(key, true);
    query(owner.id, jid, async () => {
      if (!(await fetchGroup(owner, jid))) seen.delete(key);
    }).catch((error: unknown) => {
      seen.delete(key);
      log.debug({ err: error, instance_id: owner.id }, "group metadata could not be fetched");
    });
  };
}

async function isKnown(db: Db, instanceId: number, jid: Jid): Promise<boolean> {
  const row = await db
    .selectFrom("group_chat")
    .select("id")
    .where("instance_id", "=", instanceId)
    .where("jid", "=", jid)
    .executeTakeFirst();
  return row !== undefined;
}
