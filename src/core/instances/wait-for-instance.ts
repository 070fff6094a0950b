import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../../engine/engine.ts";

const POLL_MS = 1_000;

export interface WaitForInstanceOptions {
  engine: Pick<Engine, "subscribe">;
  /** Maximum wait in milliseconds. */
  ms: number;
  /** Aborted when the caller no longer waits. */
  signal: AbortSignal;
}

/**
 * Reads an instance, at least once, until `poll` accepts it or the timeout. Notifications can be lost, so it
 * also polls every second.
 */
export async function waitForInstance(
  { engine, ms, signal }: WaitForInstanceOptions,
  id: number,
  poll: () => Promise<boolean>,
): Promise<void> {
  const until = performance.now() + ms;
  let changed = new AbortController();
  const unsubscribe = engine.subscribe("instance", (key) => {
    if (key === String(id) || key === "*") changed.abort();
  });
  try {
    for (;;) {
      // Set up before the read, so that a change during it is not missed.
      changed = new AbortController();
      const isAccepted = await poll();
      const leftMs = until - performance.now();
      if (isAccepted || leftMs <= 0 || signal.aborted) return;
      const woken = AbortSignal.any([changed.signal, signal]);
      await sleep(Math.min(POLL_MS, leftMs), undefined, { signal: woken }).catch(() => {});
    }
  } finally {
    unsubscribe();
  }
}
