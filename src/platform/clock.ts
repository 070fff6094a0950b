/** The gateway's source of time; tests replace it. */
export interface Clock {
  /** Wall-clock time, for stored and displayed values. */
  now(): Date;
  /** Monotonic milliseconds, for waits and deadlines. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};
