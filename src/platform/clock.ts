import { performance } from "node:perf_hooks";

/** Time as the gateway sees it; tests put their own in its place. */
export interface Clock {
  /** The wall clock, for what is stored and shown. */
  now(): Date;
  /** Milliseconds that never jump, for waiting and deadlines. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};
