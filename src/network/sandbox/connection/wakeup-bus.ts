import type { Pool } from "pg";

/** Receives wake-ups for devices and pairings; `afterMs` is the delay until the entry is due. */
export interface WakeupListener {
  deviceWoken(device: number, afterMs: number): void;
  pairingWoken(pairing: string): void;
}

/** Notifies the sessions of this process at once; other processes find the same by polling. */
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

/** The wake-ups of all users of one pool in this process. */
export function wakeupBusOf(pool: Pool): WakeupBus {
  const wakes = wakesByPool.get(pool) ?? new WakeupBus();
  wakesByPool.set(pool, wakes);
  return wakes;
}
