import type { SignalDataSet } from "baileys";
import type { ItemCache } from "../keys/session-caches.ts";
import type { WriteBehindKeyStore } from "../keys/write-behind-key-store.ts";

/** Somebody's devices as the client library keeps them. */
export type DeviceList = { user: string; device?: number }[];

interface CachedDevices {
  devices: DeviceList;
  /** Milliseconds since the epoch. */
  at: number;
}

const KIND = "devices";
/** The network tells of changes, also of those while we were away; this is for what it may forget to tell. */
const TRUSTED_MS = 6 * 3_600_000;

/**
 * Which devices somebody has, in the form that the client library calls. It is kept with the pairing: asking anew costs a
 * question, one of the recipient's keys and a new conversation, with everybody after each start.
 */
export class DeviceCache {
  readonly #items: ItemCache<CachedDevices>;
  readonly #store: WriteBehindKeyStore;

  constructor(items: ItemCache<CachedDevices>, store: WriteBehindKeyStore) {
    this.#items = items;
    this.#store = store;
  }

  /** Undefined when they are not known, whatever the interface says. */
  async get<T = DeviceList | undefined>(user: string): Promise<T> {
    return (await this.mget<T>([user]))[user] as T;
  }

  async mget<T = DeviceList>(users: string[]): Promise<Record<string, T | undefined>> {
    const missing = users.filter((user) => this.#items.get(user) === undefined);
    if (missing.length > 0) await this.#read(missing);
    const now = Date.now();
    const found = users.map((user) => [user, this.#items.get<CachedDevices>(user)] as const);
    return Object.fromEntries(
      found.map(([user, known]) => [user, known && now - known.at < TRUSTED_MS ? known.devices : undefined]),
    ) as Record<string, T | undefined>;
  }

  set<T = DeviceList>(user: string, devices: T): void {
    this.mset([{ key: user, value: devices }]);
  }

  mset<T = DeviceList>(entries: { key: string; value: T }[]): void {
    const at = Date.now();
    const known = entries.map(({ key, value }) => [key, { devices: value as DeviceList, at }] as const);
    for (const [user, one] of known) this.#items.set(user, one);
    this.#write(Object.fromEntries(known));
  }

  del(user: string): void {
    this.#items.del(user);
    this.#write({ [user]: null });
  }

  /** A part of the interface; what is known stays true. */
  flushAll(): void {}

  async #read(users: string[]): Promise<void> {
    const get = this.#store.get as unknown as (
      kind: string,
      ids: string[],
    ) => Promise<Record<string, CachedDevices>>;
    for (const [user, known] of Object.entries(await get(KIND, users))) this.#items.set(user, known);
  }

  #write(known: Record<string, CachedDevices | null>): void {
    void this.#store.set({ [KIND]: known } as unknown as SignalDataSet);
  }
}
