import type { Db } from "../platform/db/database.ts";
import type { DatabaseAvailability } from "./database-availability.ts";
import { findLostLanes } from "./lane-epoch.ts";
import { deleteStaleNodes, releaseLanes } from "./lane-store.ts";
import type { OwnedLane } from "./owned-lane.ts";
import type { OwnedLanes } from "./owned-lanes.ts";

export interface OwnershipCheckOptions {
  db: Db;
  node: string;
  ownedLanes: OwnedLanes;
  availability: DatabaseAvailability;
  /** Kinds whose role this node has. */
  kinds(): string[];
  /** Whether earlier boots of this node have certainly ended. */
  isPredecessorGone(): boolean;
}

/** Compares the lanes that this node holds with the owners in the database. */
export class OwnershipCheck {
  readonly #options: OwnershipCheckOptions;

  constructor(options: OwnershipCheckOptions) {
    this.#options = options;
  }

  async checkAll(): Promise<void> {
    const { db, node, ownedLanes, availability, kinds, isPredecessorGone } = this.#options;
    try {
      await deleteStaleNodes(db);
      // An earlier boot may have had roles that this boot does not have.
      if (isPredecessorGone()) await releaseLanes(db, node, { keep: kinds() });
    } catch (error) {
      availability.recordFailure(error);
    }
    await this.check(ownedLanes.all());
  }

  /** Closes lanes that this node no longer owns or that no longer exist. */
  async check(works: readonly OwnedLane[]): Promise<void> {
    const { db, node, ownedLanes, availability } = this.#options;
    if (works.length === 0) return;
    try {
      const lost = await findLostLanes(
        db,
        node,
        works.map((work) => work.lane),
      );
      const isLost = new Set(lost);
      for (const work of works) if (isLost.has(work.lane)) void ownedLanes.close(work);
    } catch (error) {
      availability.recordFailure(error);
    }
  }
}
