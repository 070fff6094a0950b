import { type RawBuilder, sql } from "kysely";
import type { Db, Trx } from "../platform/db/database.ts";
import { rowCountHint } from "../platform/db/prepared-statement.ts";

/**
 * Returns the id of the lane of this kind and key, and creates it if missing. After the commit: `wake([id])`.
 */
export async function addLane(db: Db | Trx, kind: string, key: string): Promise<number> {
  // This statement cannot see a concurrent insert that commits while it runs; the next one can.
  for (let attempts = 0; attempts < 10; attempts++) {
    const { rows } = await sql<{ id: number }>`
      with added as (insert into lane (kind, key) values (${kind}, ${key}) on conflict do nothing returning id)
      select id from added union all select id from lane where kind = ${kind} and key = ${key} limit 1`.execute(
      db,
    );
    if (rows[0]) return rows[0].id;
  }
  throw new Error(`lane ${kind} ${key} could be neither found nor inserted`);
}

/** Removes the lane; the caller must delete its jobs. After the commit: `wake([id], { changed: true })`. */
export async function removeLane(trx: Db | Trx, id: number): Promise<void> {
  await sql`delete from lane where id = ${id}`.execute(trx);
}

/**
 * Marks owners without a row as dead, so that their lanes can be claimed; deletes old dead nodes without
 * lanes.
 */
export async function deleteStaleNodes(db: Db): Promise<void> {
  await sql`
    insert into node (id, boot, dead, roles)
    select distinct owner, 0, true, '{}'::text[] from lane
    where owner is not null and not exists (select 1 from node where node.id = lane.owner)
    on conflict do nothing`.execute(db);
  await sql`
    delete from node where dead and started_at < now() - interval '1 day'
      and not exists (select 1 from lane where lane.owner = node.id)`.execute(db);
}

/** A lane under the epoch at which its caller claimed it. */
export interface LaneEpoch {
  readonly id: number;
  readonly epoch: number;
}

/**
 * Selects `id, epoch` of the lanes that this node still owns under these epochs, and locks them until the
 * commit. Use it inside a fenced statement, and pass each missing lane to `engine.markLaneLost(id)`.
 */
export function lockOwnedLanes(node: string, lanes: readonly LaneEpoch[]): RawBuilder<LaneEpoch> {
  // A fixed lock order, so that statements that lock several lanes cannot deadlock.
  return sql<LaneEpoch>`${stillOurs(node, lanes)} order by lane.id for share of lane`;
}

/** Returns the lanes that this node no longer owns. */
export async function findLostLanes<Claim extends LaneEpoch>(
  db: Db,
  node: string,
  lanes: readonly Claim[],
): Promise<Claim[]> {
  const { rows } = await sql<LaneEpoch>`${stillOurs(node, lanes)}`.execute(db);
  const owned = new Set(rows.map(laneEpochKey));
  return lanes.filter((lane) => !owned.has(laneEpochKey(lane)));
}

function stillOurs(node: string, lanes: readonly LaneEpoch[]): RawBuilder<LaneEpoch> {
  const ids = lanes.map((lane) => lane.id);
  const epochs = lanes.map((lane) => lane.epoch);
  return sql<LaneEpoch>`
    select lane.id, lane.epoch from lane
    join (
      select * from unnest(${ids}::bigint[], ${epochs}::bigint[]) as expected (id, epoch) ${rowCountHint(lanes)}
    ) as expected on expected.id = lane.id and expected.epoch = lane.epoch
    where lane.owner = ${node}`;
}

/** Equal for equal lanes and epochs. */
export function laneEpochKey(lane: LaneEpoch): string {
  return `${lane.id}:${lane.epoch}`;
}
