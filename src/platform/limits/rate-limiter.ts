import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import { maxEntries } from "./max-entries.ts";

/** What a request costs in one rate limit. */
export interface RateLimitCost {
  /** Whose rate limit it is. */
  key: string;
  /** Its name in the headers. */
  policy: string;
  /** Refill per minute and burst size. */
  perMinute: number;
  cost: number;
}

/** State of a rate limit after a request. */
export interface RateLimitState {
  policy: string;
  limit: number;
  remaining: number;
  /** The request exceeds it. */
  isExceeded: boolean;
  /** If exceeded: until the request would pass; otherwise until the limit is full again. */
  resetMs: number;
}

export interface RateLimiter {
  /** Takes the cost from all rate limits, or from none if one is exceeded. */
  consume(claims: readonly RateLimitCost[]): { isGranted: boolean; states: RateLimitState[] };
  /** The same without taking anything. */
  peek(claims: readonly RateLimitCost[]): { isGranted: boolean; states: RateLimitState[] };
}

export interface RateLimiterOptions {
  clock: Clock;
  /** Most rate limits in memory; the least recently used ones are evicted because they are full again. */
  max: number;
  /** Number of processes that share each rate limit. */
  shares?: () => number;
}

const MINUTE_MS = 60_000;
/** Tolerance for rounding errors of fractions. */
const TOLERANCE_MS = 0.001;

/**
 * Token buckets by the generic cell rate algorithm: one number per limit, the time at which it is full again.
 */
export function createRateLimiter({ clock, max, shares = () => 1 }: RateLimiterOptions): RateLimiter {
  const fullAt = new LRUCache<string, number>(maxEntries(max));

  function evaluate(claims: readonly RateLimitCost[], isConsumed: boolean) {
    const now = clock.monotonicMs();
    const parts = shares();
    const buckets = claims.map((claim) =>
      peekBucket(claim, parts, now, Math.max(now, fullAt.get(claim.key) ?? now)),
    );
    const isGranted = buckets.every(({ waitMs }) => waitMs <= TOLERANCE_MS);
    if (isGranted && isConsumed) for (const { claim, fullAfter } of buckets) fullAt.set(claim.key, fullAfter);
    return { isGranted, states: buckets.map((one) => stateOf(one, isGranted, now)) };
  }

  return { consume: (claims) => evaluate(claims, true), peek: (claims) => evaluate(claims, false) };
}

interface BucketState {
  claim: RateLimitCost;
  /** Milliseconds until one unit is refilled. */
  interval: number;
  burst: number;
  fullBefore: number;
  fullAfter: number;
  waitMs: number;
}

function peekBucket(claim: RateLimitCost, parts: number, now: number, fullBefore: number): BucketState {
  const { perMinute, cost } = claim;
  const burst = Math.max(1, Math.floor(perMinute / parts));
  const interval = (MINUTE_MS * parts) / Math.max(1, perMinute);
  // A cost above the burst size takes the whole burst; otherwise it could never pass.
  const fullAfter = fullBefore + Math.min(cost, burst) * interval;
  const waitMs = perMinute > 0 ? Math.max(0, fullAfter - burst * interval - now) : MINUTE_MS;
  return { claim, interval, burst, fullBefore, fullAfter, waitMs };
}

function stateOf(
  { claim, interval, burst, fullBefore, fullAfter, waitMs }: BucketState,
  isGranted: boolean,
  now: number,
): RateLimitState {
  const full = isGranted ? fullAfter : fullBefore;
  const left = burst - (full - now) / interval;
  const remaining = claim.perMinute > 0 ? Math.max(0, Math.floor(left + TOLERANCE_MS)) : 0;
  const isExceeded = waitMs > TOLERANCE_MS;
  const exactMs = isExceeded ? waitMs : full - now;
  // Rounded to a microsecond, so that a rounding error does not turn 20 s into 21 s.
  const resetMs = Math.round(exactMs * 1000) / 1000;
  return { policy: claim.policy, limit: claim.perMinute, remaining, isExceeded, resetMs };
}
