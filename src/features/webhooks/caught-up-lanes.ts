import { LRUCache } from "lru-cache";
import type { RecordedInstance } from "../events/events.ts";

interface InstanceLanes {
  /** Sequence number of the last event that is known. */
  last: number;
  /** Lanes that were woken after, or got, every event up to it. */
  lanes: ReadonlySet<number>;
}

/** Instances and lanes; a forgotten one costs a read. */
const MOST_ENTRIES = 100_000;

/**
 * Which lanes know every event of their instance. Sequence numbers have no gaps, so a number that this node did
 * not record is an event of another recorder, whose notification may be late or lost.
 */
export class CaughtUpLanes {
  readonly #instances = new LRUCache<number, InstanceLanes>({
    maxSize: MOST_ENTRIES,
    sizeCalculation: ({ lanes }) => 1 + lanes.size,
  });

  /**
   * Notes a committed batch, of whose jobs the lanes learn now. Returns the lanes that knew every event before it.
   */
  advance({ instance_id, before, last, deliveries }: RecordedInstance): ReadonlySet<number> {
    const lanes = deliveries.map(({ lane }) => lane);
    const known = this.#instances.get(instance_id);
    const caughtUp: ReadonlySet<number> = known?.last === before ? known.lanes : new Set();
    this.#instances.set(instance_id, {
      // Of two concurrent batches, the later one may be noted first.
      last: Math.max(known?.last ?? 0, last),
      lanes: lanes.every((lane) => caughtUp.has(lane)) ? caughtUp : new Set([...caughtUp, ...lanes]),
    });
    return caughtUp;
  }
}
