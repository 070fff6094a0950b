import { setTimeout as sleep } from "node:timers/promises";
import { type EventDraft, recordEvents } from "../../src/core/events/events.ts";
import { createEngine } from "../../src/engine/engine.ts";
import type { Database } from "../../src/platform/db/database.ts";
import { createLog } from "../../src/platform/log/log.ts";
import { percentile } from "../run/process-figures.ts";

const AT_ONCE = 100;
const CHATS = 50;

/** A node that only records events of about 1 kB and notifies the other nodes. */
export interface EventSource {
  /** Records at a constant rate, independent of earlier events. Returns the count. */
  record(instances: readonly number[], pace: Pace): Promise<number>;
  /** Records `count` events as fast as possible. */
  fill(instances: readonly number[], count: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startEventSource(database: Database): Promise<EventSource> {
  const engine = createEngine({
    database,
    log: createLog("silent"),
    node_id: "load",
    roles: ["api"],
    claimImmediately: false,
  });
  await engine.start();
  const write = async (drafts: EventDraft[]) => {
    engine.wake(await database.db.transaction().execute((trx) => recordEvents(trx, drafts)));
  };
  return {
    async record(instances, { perSecond, seconds }) {
      const total = Math.floor(perSecond * seconds);
      const began = performance.now();
      for (let done = 0; done < total; ) {
        const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond));
        const drafts = draftsFrom(instances, done, Math.min(AT_ONCE, due - done));
        done += drafts.length;
        if (drafts.length > 0) await write(drafts);
        else await new Promise((resolve) => setTimeout(resolve, 2));
      }
      return total;
    },
    async fill(instances, count) {
      for (let done = 0; done < count; done += 10 * AT_ONCE) {
        await write(draftsFrom(instances, done, Math.min(10 * AT_ONCE, count - done)));
      }
    },
    stop: () => engine.stop(),
  };
}

function draftsFrom(instances: readonly number[], from: number, count: number): EventDraft[] {
  return Array.from({ length: count }, (_, index) => {
    const n = from + index;
    const chat = `chat ${Math.floor(n / instances.length) % CHATS}`;
    const data = { at: Date.now(), message: { text: "x".repeat(600) } };
    const instance_id = instances[n % instances.length] ?? 0;
    return { event: "message.received", instance_id, chat, data };
  });
}

export interface Pace {
  perSecond: number;
  seconds: number;
}

export interface Offered {
  count: number;
  failed: number;
  /** Milliseconds from each scheduled time to the end, so that queueing counts. */
  latencies: number[];
  /** Longest delay of the load generator in ms. Above about 30 ms the figures measure the generator. */
  driverLagMs: number;
}

/** Starts an action at each scheduled time (of `performance.now`), independent of earlier ones, and waits for all. */
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
    // A loop that is late must still process responses.
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

/** Formats p50, p95, p99 and the maximum. */
export function spread(latencies: number[]): string {
  const at = (share: number) => percentile(latencies, share).toFixed(0);
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`;
}
