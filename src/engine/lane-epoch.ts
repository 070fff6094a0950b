import { type RawBuilder, sql } from "kysely";
import type { Db } from "../platform/db/database.ts";

/** A lane as somebody believes to own it. */
export interface LaneEpoch {
  readonly id: number;
  readonly epoch: number;
}

/**
 * Rows `id, epoch` of those lanes that this node still owns under these epochs, locked until the commit. For use inside
 * the statement of a fenced act; a lane that does not come back is lost: tell `engine.laneLost(id)`.
 */
export function lockOwnedLanes(node: string, lanes: readonly LaneEpoch[]): RawBuilder<LaneEpoch> {
  // In one order, so that statements which lock several lanes never wait for each other in a circle.
  return sql<LaneEpoch>`${stillOurs(node, lanes)} order by lane.id for share of lane`;
}

/** Those of the lanes that this node does not own any more. */
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

/** Equal for equal claims. */
export function laneEpochKey(lane: LaneEpoch): string {
  return `${lane.id}:${lane.epoch}`;
}
