import { createEngine } from "../../src/engine/engine.ts";
import { type EventDraft, recordEvents } from "../../src/features/events/events.ts";
import type { Database } from "../../src/platform/db/database.ts";
import { createLog } from "../../src/platform/log/log.ts";
import type { Pace } from "./open-loop.ts";

const AT_ONCE = 100;
const CHATS = 50;

/** A node that only records events, of about a kilobyte each, and tells the others of them as any node does. */
export interface EventSource {
  /** At an even pace, whatever becomes of those before; answers how many were recorded. */
  record(instances: readonly number[], pace: Pace): Promise<number>;
  /** As many as soon as possible. */
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
