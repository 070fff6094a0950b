import { LRUCache } from "lru-cache";

/** Budget, in characters, of the keys that all sessions of a process cache together. */
const KEY_BUDGET = 48_000_000;
const ITEM_OVERHEAD = 120;
const ITEMS = 100_000;
const HOUR_MS = 3_600_000;

/**
 * Caches shared by all sessions, so that rarely used entries of one session do not evict frequent ones of
 * another.
 */
export class SharedCaches {
  readonly #keys = new LRUCache<string, string>({
    maxSize: KEY_BUDGET,
    sizeCalculation: (text, key) => text.length + key.length + ITEM_OVERHEAD,
  });
  // `max` would allocate a slot for each entry at once.
  readonly #items = new LRUCache<string, object>({ maxSize: ITEMS, sizeCalculation: () => 1 });
  #sessions = 0;

  /** The caches of one session. */
  forSession(): SessionCaches {
    return new SessionCaches(this.#keys, this.#items, `${++this.#sessions}`);
  }
}

/** The caches of one session; any entry may be evicted at any time. */
export class SessionCaches {
  readonly #keys: LRUCache<string, string>;
  readonly #items: LRUCache<string, object>;
  readonly #prefix: string;

  constructor(keys: LRUCache<string, string>, items: LRUCache<string, object>, prefix: string) {
    this.#keys = keys;
    this.#items = items;
    this.#prefix = prefix;
  }

  /** Undefined: not cached; null: known not to exist. */
  key(name: string): string | null | undefined {
    const text = this.#keys.get(`${this.#prefix} ${name}`);
    return text === "" ? null : text;
  }

  setKey(name: string, text: string | null): void {
    this.#keys.set(`${this.#prefix} ${name}`, text ?? "");
  }

  deleteKey(name: string): void {
    this.#keys.delete(`${this.#prefix} ${name}`);
  }

  /** A cache with Baileys' interface, whose entries expire after `ttlMs`. */
  createCache<T>(name: string, ttlMs = HOUR_MS): ItemCache<T> {
    return new ItemCache(this.#items, `${this.#prefix} ${name} `, ttlMs);
  }
}

/** Entries by name; `mget` and `mset` have the signatures that Baileys calls. */
export class ItemCache<Of> {
  readonly #items: LRUCache<string, object>;
  readonly #prefix: string;
  readonly #ttl: number;

  constructor(items: LRUCache<string, object>, prefix: string, ttl: number) {
    this.#items = items;
    this.#prefix = prefix;
    this.#ttl = ttl;
  }

  get<T = Of>(key: string): T | undefined {
    return (this.#items.get(this.#prefix + key) as { value: T } | undefined)?.value;
  }

  set<T = Of>(key: string, value: T): void {
    this.#items.set(this.#prefix + key, { value }, { ttl: this.#ttl });
  }

  del(key: string): void {
    this.#items.delete(this.#prefix + key);
  }

  async mget<T = Of>(keys: string[]): Promise<Record<string, T | undefined>> {
    return Object.fromEntries(keys.map((key) => [key, this.get<T>(key)]));
  }

  mset<T = Of>(entries: { key: string; value: T }[]): void {
    for (const { key, value } of entries) this.set(key, value);
  }

  /** Required by the interface; entries expire by age. */
  flushAll(): void {}
}
