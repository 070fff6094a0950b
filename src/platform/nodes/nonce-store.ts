import type { Clock } from "../clock.ts";

export interface NonceStore {
  /** `full`: this one could not be remembered, so it cannot be taken. */
  add(nonce: string): "new" | "seen" | "full";
}

export interface NonceStoreOptions {
  clock: Clock;
  /** A nonce is remembered for at least this long, and for twice as long at most. */
  keepMs: number;
  /** Remembered at most in `keepMs`. */
  max: number;
}

/** Remembers nonces in bounded memory. It never forgets one early to make room for others: that would let it in again. */
export function createNonceStore({ clock, keepMs, max }: NonceStoreOptions): NonceStore {
  let recent = new Set<string>();
  let older = new Set<string>();
  let rotatedAt = clock.monotonicMs();

  function rotate(): void {
    const elapsed = clock.monotonicMs() - rotatedAt;
    if (elapsed < keepMs) return;
    older = elapsed < 2 * keepMs ? recent : new Set();
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
