import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../clock.ts";
import { maxEntries } from "./max-entries.ts";

/** What is taken from one bucket. */
export interface TokenClaim {
  key: string | number;
  /** Name of the limit in headers. */
  policy?: string;
  /** Refill per minute. */
  perMinute: number;
  /** Most tokens in the bucket; the refill of a minute if absent. */
  burst?: number;
  /** 1 by default. */
  cost?: number;
}

/** A bucket after a claim. */
export interface TokenBucketState {
  policy: string;
  limit: number;
  remaining: number;
  /** The claim exceeds it. */
  isExceeded: boolean;
  /** If exceeded: until the claim would pass; otherwise until the bucket is full again. */
  resetMs: number;
}

export interface TokenResult {
  isGranted: boolean;
  states: TokenBucketState[];
  /** Until all claims would pass; 0 if they do. */
  waitMs: number;
}

export interface TokenBuckets {
  /** Takes the cost from all buckets, or from none if one is exceeded. */
  consume(...claims: readonly TokenClaim[]): TokenResult;
  /** The same without taking anything. */
  peek(...claims: readonly TokenClaim[]): TokenResult;
}

export interface TokenBucketsOptions {
  clock?: Clock;
  /** Most buckets in memory; the least recently used ones are evicted because they are full again. */
  maxKeys?: number;
  /** Number of processes that share each bucket. */
  shares?: () => number;
}

const MINUTE_MS = 60_000;
/** Tolerance for rounding errors of fractions. */
const TOLERANCE_MS = 0.001;

/** Token buckets by the generic cell rate algorithm: one number per key, the time at which its bucket is full again. */
export function createTokenBuckets({
  clock = systemClock,
  maxKeys = 10_000,
  shares = () => 1,
}: TokenBucketsOptions = {}): TokenBuckets {
  const fullAt = new LRUCache<string | number, number>(maxEntries(maxKeys));

  function evaluate(claims: readonly TokenClaim[], isConsumed: boolean): TokenResult {
    const now = clock.monotonicMs();
    const parts = shares();
    const buckets = claims.map((claim) =>
      peekBucket(claim, parts, now, Math.max(now, fullAt.get(claim.key) ?? now)),
    );
    const isGranted = buckets.every(({ waitMs }) => waitMs <= TOLERANCE_MS);
    if (isGranted && isConsumed) for (const { claim, fullAfter } of buckets) fullAt.set(claim.key, fullAfter);
    const states = buckets.map((one) => stateOf(one, isGranted, now));
    const waitMs = Math.max(
      0,
      ...states.filter(({ isExceeded }) => isExceeded).map(({ resetMs }) => resetMs),
    );
    return { isGranted, states, waitMs };
  }

  return { consume: (...claims) => evaluate(claims, true), peek: (...claims) => evaluate(claims, false) };
}

interface BucketState {
  claim: TokenClaim;
  /** Milliseconds until one unit is refilled. */
  interval: number;
  burst: number;
  fullBefore: number;
  fullAfter: number;
  waitMs: number;
}

function peekBucket(claim: TokenClaim, parts: number, now: number, fullBefore: number): BucketState {
  const { perMinute, burst: most = perMinute, cost = 1 } = claim;
  const burst = Math.max(1, Math.floor(most / parts));
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
): TokenBucketState {
  const full = isGranted ? fullAfter : fullBefore;
  const left = burst - (full - now) / interval;
  const remaining = claim.perMinute > 0 ? Math.max(0, Math.floor(left + TOLERANCE_MS)) : 0;
  const isExceeded = waitMs > TOLERANCE_MS;
  const exactMs = isExceeded ? waitMs : full - now;
  // Rounded to a microsecond, so that a rounding error does not turn 20 s into 21 s.
  const resetMs = Math.round(exactMs * 1000) / 1000;
  return { policy: claim.policy ?? "", limit: claim.perMinute, remaining, isExceeded, resetMs };
}
