import type { Db } from "../../platform/db/database.ts";

/** The address of another node; undefined if it has none or is dead. */
export async function findNodeUrl(db: Db, node: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("node")
    .select("url")
    .where("id", "=", node)
    .where("dead", "=", false)
    .executeTakeFirst();
  return row?.url ?? undefined;
}
