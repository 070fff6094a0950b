import { LRUCache } from "lru-cache";
import { maxEntries } from "./limits/max-entries.ts";

/** Caches database results briefly, and merges concurrent loads of one key. */
export interface TtlCache<Value> {
  get(key: string): Promise<Value | undefined>;
  /** Whether `get` needs no load. */
  has(key: string): boolean;
  delete(key: string): void;
}

/** A value is at most `ttlMs` old, counted from before its load; absent values are never cached. */
export function createTtlCache<Value>(options: {
  max: number;
  ttlMs: number;
  load(key: string): Promise<Value | undefined>;
}): TtlCache<Value> {
  const entries = new LRUCache<string, { number: number; value: Promise<Value | undefined> }>({
    ...maxEntries(options.max),
    ttl: options.ttlMs,
  });

  /** The number distinguishes a load from a later one of the same key. */
  async function refresh(key: string, number: number): Promise<Value | undefined> {
    let value: Value | undefined;
    try {
      value = await options.load(key);
    } finally {
      if (value === undefined && entries.peek(key)?.number === number) entries.delete(key);
    }
    return value;
  }

  let loads = 0;
  return {
    get(key) {
      const known = entries.get(key);
      if (known) return known.value;
      const number = loads++;
      const value = refresh(key, number);
      entries.set(key, { number, value });
      return value;
    },
    has: (key) => entries.has(key),
    delete(key) {
      entries.delete(key);
    },
  };
}
