import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../platform/db/database.ts";
import { Semaphore } from "../../platform/limits/semaphore.ts";
import type { Log } from "../../platform/log/log.ts";
import type { DatabaseAvailability } from "../cluster/database-availability.ts";
import { deleteStaleNodes, findLostLanes } from "../lane-store.ts";
import { releaseLanes } from "./claim-lanes.ts";
import type { JobReservation, LaneDispatcher } from "./lane-dispatcher.ts";
import type { Lane } from "./lane-kind.ts";
import { OwnedLane } from "./owned-lane.ts";

const LONGEST_RETRY_MS = 30_000;
/** Bounds the load on the database when a thousand lanes of a dead node are claimed. */
const OPENED_AT_ONCE = 16;

/** The lanes of this node, from their claim until the last job that still runs after their loss. */
export class OwnedLanes {
  readonly #log: Log;
  readonly #dispatchers: ReadonlyMap<string, LaneDispatcher>;
  readonly #byId = new Map<number, OwnedLane>();
  readonly #byKey = new Map<string, OwnedLane>();
  readonly #closing = new Set<number>();
  readonly #opening = new Semaphore({ limit: OPENED_AT_ONCE });

  readonly #closed: () => void;

  /** `closed` is called when a lost lane is idle and may be claimed again. */
  constructor(log: Log, dispatchers: ReadonlyMap<string, LaneDispatcher>, closed: () => void) {
    this.#log = log;
    this.#dispatchers = dispatchers;
    this.#closed = closed;
  }

  claim(lanes: readonly Lane[]): void {
    for (const lane of lanes) {
      const dispatcher = this.#dispatchers.get(lane.kind);
      if (dispatcher) this.#claimOne(lane, dispatcher);
    }
  }

  get(id: number): OwnedLane | undefined {
    return this.#byId.get(id);
  }

  laneOf(kind: string, key: string): Lane | undefined {
    return this.#byKey.get(keyOf({ kind, key }))?.lane;
  }

  all(): OwnedLane[] {
    return [...this.#byId.values()];
  }

  ids(): number[] {
    return [...this.#byId.keys()];
  }

  /** Lost lanes that still have running jobs here. */
  closing(): number[] {
    return [...this.#closing];
  }

  /** Changes and dispatches the lane; false if this node does not own it. */
  update(id: number, change: (work: OwnedLane) => void): boolean {
    const work = this.#byId.get(id);
    if (!work) return false;
    change(work);
    this.dispatch(work);
    return true;
  }

  /** A place for a job of this group; undefined if this node does not own the lane or the job must wait. */
  reserve(id: number, grp: string): JobReservation | undefined {
    const work = this.#byId.get(id);
    return work && this.#dispatchers.get(work.lane.kind)?.reserve(work, grp);
  }

  /** Dispatches the lane. */
  dispatch(work: OwnedLane): void {
    this.#dispatchers.get(work.lane.kind)?.enqueue(work);
  }

  /** Drops the lane at once; resolves when the feature has released it. */
  async close(work: OwnedLane): Promise<void> {
    if (work.isClosed) return;
    const { lane } = work;
    work.close();
    this.#byId.delete(lane.id);
    this.#byKey.delete(keyOf(lane));
    const lost = this.#notifyLost(work);
    // Two owners in one process would run a group twice at once, so the lane is not claimed until the old one
    // is idle.
    this.#closing.add(lane.id);
    void Promise.allSettled([lost, work.whenIdle()]).then(() => {
      this.#closing.delete(lane.id);
      this.#closed();
    });
    await lost;
  }

  /** Closes each lane as soon as it is idle, so that a slow job delays only its own lane. */
  async closeWhenIdle(closed: (lane: number) => Promise<unknown>): Promise<void> {
    const owned = this.all().map(async (work) => {
      await work.whenIdle();
      await this.close(work);
      await closed(work.lane.id);
    });
    // A lane lost earlier may still have a running job.
    const left = [...this.#dispatchers.values()].map((dispatcher) => dispatcher.whenIdle());
    await Promise.all([...owned, ...left]);
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.all().map((work) => this.close(work)));
  }

  #claimOne(lane: Lane, dispatcher: LaneDispatcher): void {
    // Lost after the claim was sent: the lane is claimed once more when its last job has ended.
    if (this.#closing.has(lane.id)) return;
    const before = this.#byId.get(lane.id);
    // The lane was lost and claimed again unnoticed: it reopens once the old one is idle.
    if (before) return void this.close(before);
    const work = new OwnedLane(lane, dispatcher.kind);
    this.#byId.set(lane.id, work);
    this.#byKey.set(keyOf(lane), work);
    void this.#open(work);
  }

  async #open(work: OwnedLane): Promise<void> {
    for (let waitMs = 1_000; !work.isClosed; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        if (work.kind.onClaimed) await this.#opening.use(() => this.#notifyClaimed(work));
        work.isOpen = true;
        return this.dispatch(work);
      } catch (error) {
        this.#log.error(
          { ...about(work.lane), err: error },
          "a lane could not be opened; it will be retried",
        );
        await sleep(waitMs, undefined, { ref: false });
      }
    }
  }

  async #notifyClaimed({ kind, lane, isClosed }: OwnedLane): Promise<void> {
    if (!isClosed) await kind.onClaimed?.(lane);
  }

  async #notifyLost(work: OwnedLane): Promise<void> {
    try {
      await work.kind.onLost?.(work.lane);
    } catch (error) {
      this.#log.error({ ...about(work.lane), err: error }, "a lane's onLost handler threw");
    }
  }
}

function keyOf(lane: { kind: string; key: string }): string {
  return JSON.stringify([lane.kind, lane.key]);
}

function about(lane: Lane): Record<string, unknown> {
  return { lane_kind: lane.kind, lane_key: lane.key, epoch: lane.epoch };
}

interface OwnershipCheckOptions {
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
