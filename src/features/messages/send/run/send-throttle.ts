import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Engine } from "../../../../engine/engine.ts";

/** The pause between two sends of an instance, in milliseconds; a random value from the range. */
export interface SendDelayRange {
  min: number;
  max: number;
  /** Sends per minute, all of which may go out at once; null: no limit. */
  perMinute: number | null;
}

const MINUTE_MS = 60_000;

/** How long typing is shown before a send that had to wait. */
const TYPING_MS = 3_000;
/** Longer than any turn takes; the turn itself reports its end. */
const HELD_MS = 60_000;

interface LaneThrottle {
  /** Undefined: must be read again. */
  range: SendDelayRange | undefined;
  lastAt: number;
  /** The earliest moment of the next send. */
  freeAt: number;
  /** A send is about to begin. */
  isTaken: boolean;
  /** When a whole minute's sends could go out at once again. */
  fullAt: number;
}

/**
 * Enforces the pauses between the sends of each lane that this process owns: one send at a time, whatever
 * their priority.
 */
export class SendThrottle {
  readonly #lanes = new Map<number, LaneThrottle>();
  readonly #engine: Pick<Engine, "pauseLane">;

  constructor(engine: Pick<Engine, "pauseLane">) {
    this.#engine = engine;
  }

  /**
   * Called synchronously when a job is claimed, so that no second job starts concurrently. Undefined: it is
   * too early for this job, and the lane pauses until then.
   */
  tryAcquire(lane: number): SendSlot | undefined {
    const pace = this.#lanes.get(lane);
    if (pace?.range && !this.acquire(lane, pace)) return undefined;
    return new SendSlot(this, lane, pace?.range !== undefined);
  }

  /** The settings of a lane may have changed. */
  invalidate(lane: number): void {
    const pace = this.#lanes.get(lane);
    if (!pace) return;
    pace.range = undefined;
    if (!pace.isTaken) this.#engine.pauseLane(lane, 0);
  }

  /** The current range; undefined: there is none. */
  setRange(lane: number, range: SendDelayRange): LaneThrottle | undefined {
    const known = this.#lanes.get(lane);
    if (range.max <= 0 && range.perMinute === null) {
      if (this.#lanes.delete(lane)) this.#engine.pauseLane(lane, 0);
      return undefined;
    }
    const pace = known ?? { range, lastAt: -range.max, freeAt: 0, isTaken: false, fullAt: 0 };
    if (!isDeepStrictEqual(pace.range, range)) {
      pace.range = range;
      pace.freeAt = known ? freeAfter(pace, range) : 0;
    }
    this.#lanes.set(lane, pace);
    return pace;
  }

  /** False: another job has the turn, or it is too early. */
  acquire(lane: number, pace: LaneThrottle): boolean {
    const waitMs = pace.isTaken ? HELD_MS : pace.freeAt - TYPING_MS - performance.now();
    if (waitMs > 0) {
      this.#engine.pauseLane(lane, waitMs);
      return false;
    }
    pace.isTaken = true;
    this.#engine.pauseLane(lane, HELD_MS);
    return true;
  }

  /** Ends a turn; `hasSent`: the pause before the next one begins. */
  release(lane: number, hasSent: boolean): void {
    const pace = this.#lanes.get(lane);
    if (!pace) return;
    pace.isTaken = false;
    if (hasSent) {
      pace.lastAt = performance.now();
      const range = pace.range ?? { min: 0, max: 0, perMinute: null };
      pace.fullAt = Math.max(pace.lastAt, pace.fullAt) + intervalOf(range);
      pace.freeAt = freeAfter(pace, range);
    }
    this.#engine.pauseLane(lane, 0);
    this.#engine.pauseLane(lane, Math.max(0, pace.freeAt - TYPING_MS - performance.now()));
  }
}

/** The right of one job to send. */
export class SendSlot {
  readonly #paces: SendThrottle;
  readonly #lane: number;
  #isTaken: boolean;

  constructor(paces: SendThrottle, lane: number, isTaken: boolean) {
    this.#paces = paces;
    this.#lane = lane;
    this.#isTaken = isTaken;
  }

  /** Waits for the moment of the send and calls `show` meanwhile. False: this job has lost its turn. */
  async wait(range: SendDelayRange, show: () => void): Promise<boolean> {
    const pace = this.#paces.setRange(this.#lane, range);
    if (!pace) {
      this.#isTaken = false;
      return true;
    }
    if (!this.#isTaken && !this.#paces.acquire(this.#lane, pace)) return false;
    this.#isTaken = true;
    const waitMs = pace.freeAt - performance.now();
    if (waitMs > TYPING_MS) return false;
    if (waitMs > 0) {
      show();
      await sleep(waitMs);
    }
    return true;
  }

  /** The send goes out now. */
  markUsed(): void {
    this.#end(true);
  }

  /** Releases an unused turn. */
  release(): void {
    this.#end(false);
  }

  #end(hasSent: boolean): void {
    if (this.#isTaken) this.#paces.release(this.#lane, hasSent);
    this.#isTaken = false;
  }
}

/** When both the pause and the wait for the per-minute limit have ended. */
function freeAfter({ lastAt, fullAt }: LaneThrottle, range: SendDelayRange): number {
  const rateFreeAt = range.perMinute === null ? 0 : fullAt + intervalOf(range) - MINUTE_MS;
  return Math.max(lastAt + pauseOf(range), rateFreeAt);
}

/** The time in which one of the minute's sends becomes available again. */
function intervalOf({ perMinute }: SendDelayRange): number {
  return perMinute === null ? 0 : MINUTE_MS / Math.max(1, perMinute);
}

function pauseOf({ min, max }: SendDelayRange): number {
  return min + Math.random() * (max - min);
}
