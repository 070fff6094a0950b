import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../clock.ts";
import { maxEntries } from "./max-entries.ts";

export interface FixedWindowOptions {
  /** Uses of one key within one window. */
  limit: number;
  windowMs: number;
  /** Most keys in memory; the least recently used ones are evicted. */
  maxKeys?: number;
  clock?: Clock;
}

/** Takes one use of the key. Returns 0, or the milliseconds until the key can be used again. */
export type FixedWindow = (key: string | number) => number;

/** Limits the uses of a key within any window of a fixed length. */
export function createFixedWindow({
  limit,
  windowMs,
  maxKeys = 10_000,
  clock = systemClock,
}: FixedWindowOptions): FixedWindow {
  const uses = new LRUCache<string | number, number[]>(maxEntries(maxKeys));
  return (key) => {
    const now = clock.monotonicMs();
    const recent = (uses.get(key) ?? []).filter((at) => now - at < windowMs);
    const [oldest = now] = recent;
    if (recent.length >= limit) return oldest + windowMs - now;
    uses.set(key, [...recent, now]);
    return 0;
  };
}
