import { LRUCache } from "lru-cache";

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
  const answers = new LRUCache<string, { number: number; value: Promise<Value | undefined> }>({
    max: options.max,
    ttl: options.ttlMs,
  });

  /** The number distinguishes a load from a later one of the same key. */
  async function ask(key: string, number: number): Promise<Value | undefined> {
    let value: Value | undefined;
    try {
      value = await options.load(key);
    } finally {
      if (value === undefined && answers.peek(key)?.number === number) answers.delete(key);
    }
    return value;
  }

  let asked = 0;
  return {
    get(key) {
      const known = answers.get(key);
      if (known) return known.value;
      const number = asked++;
      const value = ask(key, number);
      answers.set(key, { number, value });
      return value;
    },
    has: (key) => answers.has(key),
    delete(key) {
      answers.delete(key);
    },
  };
}
