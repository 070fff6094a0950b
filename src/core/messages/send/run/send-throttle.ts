import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Engine } from "../../../../engine/engine.ts";

/** The pause between two sends of an instance in milliseconds: a random value from this range. */
export interface SendDelayRange {
  min: number;
  max: number;
  /** Sends per minute, which may all go out at once; null: no limit. */
  perMinute: number | null;
}

const MINUTE_MS = 60_000;

/** How long typing is shown before a delayed send. */
const TYPING_MS = 3_000;
/** Longer than a turn lasts; a turn normally reports its own end. */
const TURN_MS = 60_000;

interface LaneThrottle {
  /** Undefined: the range must be read again. */
  range: SendDelayRange | undefined;
  lastAt: number;
  /** The earliest moment of the next send. */
  freeAt: number;
  /** A send has the turn and is about to begin. */
  isReserved: boolean;
  /** When a full minute's sends may go out at once again. */
  fullAt: number;
}

/** Enforces the pauses between the sends of this process's lanes: one send at a time, at any priority. */
export class SendThrottle {
  readonly #lanes = new Map<number, LaneThrottle>();
  readonly #engine: Pick<Engine, "pauseLane">;

  constructor(engine: Pick<Engine, "pauseLane">) {
    this.#engine = engine;
  }

  /**
   * Runs synchronously when a job is claimed, so that no second job starts concurrently. Undefined: the job
   * is too early, and the lane pauses until its time.
   */
  tryAcquire(lane: number): SendSlot | undefined {
    const pace = this.#lanes.get(lane);
    if (!pace?.range) return new SendSlot(this, lane, false);
    return this.acquire(lane, pace) ? new SendSlot(this, lane, true) : undefined;
  }

  /** Without a turn; undefined if the lane's sends are known to have pauses. */
  findUnlimited(lane: number): SendSlot | undefined {
    return this.#lanes.get(lane)?.range ? undefined : new SendSlot(this, lane, false);
  }

  /** Called when the settings of a lane may have changed. */
  invalidate(lane: number): void {
    const pace = this.#lanes.get(lane);
    if (!pace) return;
    pace.range = undefined;
    if (!pace.isReserved) this.#engine.pauseLane(lane, 0);
  }

  /** Sets the current range; undefined: the lane has none. */
  setRange(lane: number, range: SendDelayRange): LaneThrottle | undefined {
    const known = this.#lanes.get(lane);
    if (range.max <= 0 && range.perMinute === null) {
      if (this.#lanes.delete(lane)) this.#engine.pauseLane(lane, 0);
      return undefined;
    }
    const pace = known ?? { range, lastAt: -range.max, freeAt: 0, isReserved: false, fullAt: 0 };
    if (!isDeepStrictEqual(pace.range, range)) {
      pace.range = range;
      pace.freeAt = known ? freeAfter(pace, range) : 0;
    }
    this.#lanes.set(lane, pace);
    return pace;
  }

  /** False: another job has the turn, or it is too early. */
  acquire(lane: number, pace: LaneThrottle): boolean {
    const waitMs = pace.isReserved ? TURN_MS : pace.freeAt - TYPING_MS - performance.now();
    if (waitMs > 0) {
      this.#engine.pauseLane(lane, waitMs);
      return false;
    }
    pace.isReserved = true;
    this.#engine.pauseLane(lane, TURN_MS);
    return true;
  }

  /** Ends a turn; with `hasSent`, the pause before the next one begins. */
  release(lane: number, hasSent: boolean): void {
    const pace = this.#lanes.get(lane);
    if (!pace) return;
    pace.isReserved = false;
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

/** One job's right to send. */
export class SendSlot {
  readonly #paces: SendThrottle;
  readonly #lane: number;
  #isReserved: boolean;

  constructor(paces: SendThrottle, lane: number, isReserved: boolean) {
    this.#paces = paces;
    this.#lane = lane;
    this.#isReserved = isReserved;
  }

  /** Waits for the time of the send and calls `show` meanwhile. False: this job has lost its turn. */
  async wait(range: SendDelayRange, show: () => void): Promise<boolean> {
    const pace = this.#paces.setRange(this.#lane, range);
    if (!pace) {
      this.#isReserved = false;
      return true;
    }
    if (!this.#isReserved && !this.#paces.acquire(this.#lane, pace)) return false;
    this.#isReserved = true;
    const waitMs = pace.freeAt - performance.now();
    if (waitMs > TYPING_MS) return false;
    if (waitMs > 0) {
      show();
      await sleep(waitMs);
    }
    return true;
  }

  /** Marks the turn as used: the send goes out now. */
  markUsed(): void {
    this.#end(true);
  }

  /** Releases an unused turn. */
  release(): void {
    this.#end(false);
  }

  #end(hasSent: boolean): void {
    if (this.#isReserved) this.#paces.release(this.#lane, hasSent);
    this.#isReserved = false;
  }
}

/** When the pause and the wait for the per-minute limit have both ended. */
function freeAfter({ lastAt, fullAt }: LaneThrottle, range: SendDelayRange): number {
  const rateFreeAt = range.perMinute === null ? 0 : fullAt + intervalOf(range) - MINUTE_MS;
  return Math.max(lastAt + pauseOf(range), rateFreeAt);
}

/** The time until one of the minute's sends becomes available again. */
function intervalOf({ perMinute }: SendDelayRange): number {
  return perMinute === null ? 0 : MINUTE_MS / Math.max(1, perMinute);
}

function pauseOf({ min, max }: SendDelayRange): number {
  return min + Math.random() * (max - min);
}
