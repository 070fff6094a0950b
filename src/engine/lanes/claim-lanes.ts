import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { Lane } from "./lane-kind.ts";

export interface ClaimLanesQuery {
  node: string;
  kinds: readonly string[];
  /** Nodes declared dead. */
  dead: readonly string[];
  /** Whether to claim the lanes of this node's earlier boots too. */
  includeOwn: boolean;
  /** Lanes to skip: already owned, or not yet closed. */
  excluded: readonly number[];
  /** Only these lanes. */
  candidates?: readonly number[] | undefined;
  limit: number;
}

/** Claims lanes that are free or belong to dead nodes; every claim raises the epoch. */
export async function claimLanes(db: Db, order: ClaimLanesQuery): Promise<Lane[]> {
  const own = order.includeOwn ? [order.node] : [];
  if (order.dead.length === 0) return claimFrom(db, order, own);
  return db.transaction().execute(async (trx) => {
    // A dead node that restarts waits for this lock, so no lane claimed below belongs to its new boot.
    const { rows } = await sql<{ id: string }>`
      select id from node where id = any(${order.dead}) and dead order by id for share`.execute(trx);
    return claimFrom(trx, order, [...own, ...rows.map((row) => row.id)]);
  });
}

async function claimFrom(db: Db | Trx, order: ClaimLanesQuery, owners: readonly string[]): Promise<Lane[]> {
  const among = order.candidates ? sql`and id = any(${order.candidates}::bigint[])` : sql``;
  // Tests only the lane's own columns: after a lock wait, PostgreSQL re-reads the locked row but not a joined
  // one.
  const { rows } = await sql<Lane>`
    with free as (
      select id from lane
      where (owner is null or owner = any(${owners})) and kind = any(${order.kinds})
        and id <> all(${order.excluded}::bigint[]) ${among}
      limit ${order.limit} for update skip locked
    )
    update lane set owner = ${order.node}, epoch = lane.epoch + 1 from free where lane.id = free.id
    returning lane.id, lane.kind, lane.key, lane.epoch`.execute(db);
  return rows;
}

/** Releases the lanes of this node: all, only these, or all except those of the kinds to keep. */
export async function releaseLanes(
  db: Db,
  node: string,
  { keep = [], only }: { keep?: readonly string[]; only?: readonly number[] } = {},
): Promise<void> {
  const among = only ? sql`and id = any(${only}::bigint[])` : sql``;
  await sql`
    with own as (
      select id from lane where owner = ${node} and kind <> all(${keep}) ${among} order by id for update
    )
    update lane set owner = null from own where lane.id = own.id`.execute(db);
}
