import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../run/process-figures.ts";

export interface Pace {
  perSecond: number;
  seconds: number;
}

/** What came of one load. */
export interface Offered {
  count: number;
  failed: number;
  /** Milliseconds from the moment at which each was due to its end, so that queueing shows. */
  latencies: number[];
  /** How late the driver itself was at worst, in milliseconds: above some tens it is the driver that is measured. */
  driverLagMs: number;
}

/**
 * Begins an act at every due moment (of `performance.now`) whatever became of those before, and waits for all of them.
 */
export async function offer(
  pace: Pace,
  act: (n: number, dueAt: number) => Promise<unknown>,
): Promise<Offered> {
  const total = Math.floor(pace.perSecond * pace.seconds);
  const intervalMs = 1000 / pace.perSecond;
  const offered: Offered = { count: total, failed: 0, latencies: [], driverLagMs: 0 };
  const under = new Set<Promise<void>>();
  const began = performance.now();
  for (let n = 0; n < total; n++) {
    const dueAt = began + n * intervalMs;
    const earlyMs = dueAt - performance.now();
    if (earlyMs > 1) await sleep(earlyMs);
    offered.driverLagMs = Math.max(offered.driverLagMs, performance.now() - dueAt);
    const one = follow(act(n, dueAt), dueAt, offered).finally(() => under.delete(one));
    under.add(one);
    // A loop that is behind must let answers in, too.
    if (n % 50 === 0) await new Promise((turn) => setImmediate(turn));
  }
  await Promise.all(under);
  return offered;
}

async function follow(act: Promise<unknown>, dueAt: number, offered: Offered): Promise<void> {
  try {
    await act;
    offered.latencies.push(performance.now() - dueAt);
  } catch {
    offered.failed += 1;
  }
}

/** p50, p95, p99 and max in words. */
export function spread(latencies: number[]): string {
  const at = (share: number) => percentile(latencies, share).toFixed(0);
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`;
}
