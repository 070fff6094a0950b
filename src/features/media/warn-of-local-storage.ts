import type { Db } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";
import type { MediaStore } from "../../platform/media/media-store.ts";

/** Warns if this node's files are lost with the node. */
export async function warnOfLocalStorage(
  { db, store, node }: { db: Db; store: MediaStore; node: string },
  log: Log,
): Promise<void> {
  if (store.isShared) return;
  const others = await db
    .selectFrom("node")
    .select("id")
    .where("id", "<>", node)
    .where("dead", "=", false)
    .execute();
  if (others.length > 0)
    log.warn(
      { nodes: others.length + 1 },
      `files are stored in ${store.description}, and other nodes can read them only while this node runs: set WAYGATE_MEDIA to a bucket, or to a folder that all nodes mount`,
    );
}
