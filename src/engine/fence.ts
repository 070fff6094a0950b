import { type RawBuilder, sql } from "kysely";
import type { Db } from "../platform/db.ts";

/** A lane as somebody believes to own it. */
export interface LaneClaim {
  readonly id: number;
  readonly epoch: number;
}

/**
 * Rows `id, epoch` of those lanes that this node still owns under these epochs, locked until the commit. For use inside
 * the statement of a fenced act; a lane that does not come back is lost: tell `engine.laneLost(id)`.
 */
export function heldLanes(node: string, lanes: readonly LaneClaim[]): RawBuilder<LaneClaim> {
  // In one order, so that statements which lock several lanes never wait for each other in a circle.
  return sql<LaneClaim>`${stillOurs(node, lanes)} order by lane.id for share of lane`;
}

/** Those of the lanes that this node does not own any more. */
export async function findLostLanes<Claim extends LaneClaim>(
  db: Db,
  node: string,
  lanes: readonly Claim[],
): Promise<Claim[]> {
  const { rows } = await sql<LaneClaim>`${stillOurs(node, lanes)}`.execute(db);
  const held = new Set(rows.map(claimKey));
  return lanes.filter((lane) => !held.has(claimKey(lane)));
}

function stillOurs(node: string, lanes: readonly LaneClaim[]): RawBuilder<LaneClaim> {
  const ids = lanes.map((lane) => lane.id);
  const epochs = lanes.map((lane) => lane.epoch);
  return sql<LaneClaim>`
    select lane.id, lane.epoch from lane
    join unnest(${ids}::bigint[], ${epochs}::bigint[]) as ours (id, epoch)
      on ours.id = lane.id and ours.epoch = lane.epoch
    where lane.owner = ${node}`;
}

/** Equal for equal claims. */
export function claimKey(lane: LaneClaim): string {
  return `${lane.id}:${lane.epoch}`;
}
