import { type RawBuilder, sql } from "kysely";
import type { Db } from "../platform/db/database.ts";

/** A lane under the epoch at which its caller claimed it. */
export interface LaneEpoch {
  readonly id: number;
  readonly epoch: number;
}

/**
 * Selects `id, epoch` of the lanes that this node still owns under these epochs, and locks them until the
 * commit. Use it inside a fenced statement, and pass each missing lane to `engine.laneLost(id)`.
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
  const held = new Set(rows.map(laneEpochKey));
  return lanes.filter((lane) => !held.has(laneEpochKey(lane)));
}

function stillOurs(node: string, lanes: readonly LaneEpoch[]): RawBuilder<LaneEpoch> {
  const ids = lanes.map((lane) => lane.id);
  const epochs = lanes.map((lane) => lane.epoch);
  return sql<LaneEpoch>`
    select lane.id, lane.epoch from lane
    join unnest(${ids}::bigint[], ${epochs}::bigint[]) as ours (id, epoch)
      on ours.id = lane.id and ours.epoch = lane.epoch
    where lane.owner = ${node}`;
}

/** Equal for equal lanes and epochs. */
export function laneEpochKey(lane: LaneEpoch): string {
  return `${lane.id}:${lane.epoch}`;
}
