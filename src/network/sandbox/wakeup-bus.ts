import type { Pool } from "pg";

/** Hears that something may wait for a device or a pairing; `afterMs` says when it is due. */
export interface WakeupListener {
  deviceWoken(device: number, afterMs: number): void;
  pairingWoken(pairing: string): void;
}

/** Tells the sessions of this process at once what other processes find by polling. */
export class WakeupBus {
  readonly #listeners = new Set<WakeupListener>();

  listen(listener: WakeupListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  device(device: number, afterMs = 0): void {
    for (const listener of this.#listeners) listener.deviceWoken(device, afterMs);
  }

  pairing(pairing: string): void {
    for (const listener of this.#listeners) listener.pairingWoken(pairing);
  }
}

const wakesByPool = new WeakMap<Pool, WakeupBus>();

/** The wake-ups shared by everything in this process that reaches the network through the same pool. */
export function wakeupBusOf(pool: Pool): WakeupBus {
  const wakes = wakesByPool.get(pool) ?? new WakeupBus();
  wakesByPool.set(pool, wakes);
  return wakes;
}
