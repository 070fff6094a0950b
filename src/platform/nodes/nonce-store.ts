import type { Clock } from "../clock.ts";

export interface NonceStore {
  /** `full`: the nonce cannot be stored, so the request must be rejected. */
  add(nonce: string): "new" | "seen" | "full";
}

export interface NonceStoreOptions {
  clock: Clock;
  /** Shortest time that a nonce is stored; the longest is twice that. */
  retentionMs: number;
  /** Most nonces stored per `retentionMs`. */
  max: number;
}

/** Stores nonces in bounded memory. Never evicts one early, because its request could then be replayed. */
export function createNonceStore({ clock, retentionMs, max }: NonceStoreOptions): NonceStore {
  let recent = new Set<string>();
  let older = new Set<string>();
  let rotatedAt = clock.monotonicMs();

  function rotate(): void {
    const elapsed = clock.monotonicMs() - rotatedAt;
    if (elapsed < retentionMs) return;
    older = elapsed < 2 * retentionMs ? recent : new Set();
    recent = new Set();
    rotatedAt += elapsed;
  }

  return {
    add(nonce) {
      rotate();
      if (recent.has(nonce) || older.has(nonce)) return "seen";
      if (recent.size >= max) return "full";
      recent.add(nonce);
      return "new";
    },
  };
}
