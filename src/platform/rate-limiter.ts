import { LRUCache } from "lru-cache";
import type { Clock } from "./clock.ts";

/** What a request takes from one allowance. */
export interface RateLimitCost {
  /** Whose allowance it is. */
  key: string;
  /** What the headers call it. */
  policy: string;
  /** So much comes back in a minute, and so much can be taken at once. */
  perMinute: number;
  cost: number;
}

/** How an allowance stands after a request. */
export interface RateLimitState {
  policy: string;
  limit: number;
  remaining: number;
  /** It has not enough for the request. */
  isShort: boolean;
  /** Short: until it would do; else until all of it is there again. */
  resetMs: number;
}

export interface RateLimiter {
  /** Takes from all of the allowances, or, when one has not enough, from none. */
  take(claims: readonly RateLimitCost[]): { isGranted: boolean; standings: RateLimitState[] };
  /** The same, without taking anything. */
  look(claims: readonly RateLimitCost[]): { isGranted: boolean; standings: RateLimitState[] };
}

export interface RateLimiterOptions {
  clock: Clock;
  /** Allowances remembered at most; the least recently used are full again. */
  max: number;
  /** Among how many processes an allowance is divided. */
  shares?: () => number;
}

const MINUTE_MS = 60_000;
/** Less than the clock can tell: sums of fractions are not exact. */
const TOLERANCE_MS = 0.001;

/** Token buckets by the generic cell rate algorithm: one number per allowance, the moment at which it is full again. */
export function createRateLimiter({ clock, max, shares = () => 1 }: RateLimiterOptions): RateLimiter {
  const fullAt = new LRUCache<string, number>({ max });

  function ask(claims: readonly RateLimitCost[], isTaken: boolean) {
    const now = clock.monotonicMs();
    const parts = shares();
    const looks = claims.map((claim) => look(claim, parts, now, Math.max(now, fullAt.get(claim.key) ?? now)));
    const isGranted = looks.every(({ waitMs }) => waitMs <= TOLERANCE_MS);
    if (isGranted && isTaken) for (const { claim, fullAfter } of looks) fullAt.set(claim.key, fullAfter);
    return { isGranted, standings: looks.map((one) => standingOf(one, isGranted, now)) };
  }

  return { take: (claims) => ask(claims, true), look: (claims) => ask(claims, false) };
}

interface BucketState {
  claim: RateLimitCost;
  /** Milliseconds in which one unit comes back. */
  interval: number;
  burst: number;
  fullBefore: number;
  fullAfter: number;
  waitMs: number;
}

function look(claim: RateLimitCost, parts: number, now: number, fullBefore: number): BucketState {
  const { perMinute, cost } = claim;
  const burst = Math.max(1, Math.floor(perMinute / parts));
  const interval = (MINUTE_MS * parts) / Math.max(1, perMinute);
  // What costs more than there ever is takes all of it, and not for ever nothing.
  const fullAfter = fullBefore + Math.min(cost, burst) * interval;
  const waitMs = perMinute > 0 ? Math.max(0, fullAfter - burst * interval - now) : MINUTE_MS;
  return { claim, interval, burst, fullBefore, fullAfter, waitMs };
}

function standingOf(
  { claim, interval, burst, fullBefore, fullAfter, waitMs }: BucketState,
  isGranted: boolean,
  now: number,
): RateLimitState {
  const full = isGranted ? fullAfter : fullBefore;
  const left = burst - (full - now) / interval;
  const remaining = claim.perMinute > 0 ? Math.max(0, Math.floor(left + TOLERANCE_MS)) : 0;
  const isShort = waitMs > TOLERANCE_MS;
  const exactMs = isShort ? waitMs : full - now;
  // To the microsecond: what is 20 s but for the error of the sum is not shown as 21 s.
  const resetMs = Math.round(exactMs * 1000) / 1000;
  return { policy: claim.policy, limit: claim.perMinute, remaining, isShort, resetMs };
}
