import type { SignalDataSet } from "baileys";
import type { ItemCache } from "../keys/session-caches.ts";
import type { WriteBehindKeyStore } from "../keys/write-behind-key-store.ts";

/** A person's devices in Baileys' format. */
export type DeviceList = { user: string; device?: number }[];

interface CachedDevices {
  devices: DeviceList;
  /** Milliseconds since the epoch. */
  at: number;
}

const KIND = "devices";
/**
 * The network reports changes, also those during an offline period; this limit covers reports that it omits.
 */
const TRUSTED_MS = 6 * 3_600_000;

/**
 * Caches the devices of each person, with Baileys' interface. It is stored with the pairing: without it, each
 * start would cost two queries and a new Signal session per recipient.
 */
export class DeviceCache {
  readonly #items: ItemCache<CachedDevices>;
  readonly #store: WriteBehindKeyStore;

  constructor(items: ItemCache<CachedDevices>, store: WriteBehindKeyStore) {
    this.#items = items;
    this.#store = store;
  }

  /** Undefined if the devices are unknown, although the interface does not declare it. */
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

  /** Required by the interface; the cached devices stay valid. */
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
