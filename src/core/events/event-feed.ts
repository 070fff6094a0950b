import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { createBatchLoader } from "../../engine/batch-queue.ts";
import type { Db } from "../../platform/db/database.ts";
import { type Reach, withinReach } from "../../platform/reach.ts";
import { groupBy } from "./group-by.ts";

/** An event as a stream sends it. */
export interface FeedItem {
  instance_id: number;
  sequence: number;
  event_id: string;
  event: string;
  body: Buffer;
}

/** One instance, or those of an account within reach, including later ones. */
export type FeedScope = { instance_id: number } | Reach;

/** The last sequence of an instance. */
export interface EventCounter {
  instance_id: number;
  last: number;
}

export interface EventFeed {
  readCounters(followed: FeedScope): Promise<EventCounter[]>;
  /**
   * Passes every event of the followed instances to the stream, in order per instance, until the signal
   * aborts. Starts after the instance's sequence in `after`, or at its first event.
   */
  follow(
    followed: FeedScope,
    after: ReadonlyMap<number, number>,
    pass: (item: FeedItem) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
}

const POLL_MS = 300;
const PAGE = 50;

/** Reads events for streams: one query for all counters, then only instances with new events. */
export function createEventFeed(db: Db): EventFeed {
  const loader = createBatchLoader<FeedScope, EventCounter[]>({
    load: (all) => readHeads(db, all),
    maxBatch: 1_000,
  });
  return {
    readCounters: (followed) => loader.load(followed),
    async follow(followed, after, pass, signal) {
      const passed = new Map(after);
      while (!signal.aborted) {
        const isBehind = await passOn(db, await loader.load(followed), passed, pass, signal);
        if (!isBehind) await sleep(POLL_MS, undefined, { signal });
      }
    },
  };
}

async function readHeads(db: Db, all: readonly FeedScope[]): Promise<EventCounter[][]> {
  const instances = all.flatMap((one) => ("instance_id" in one ? [one.instance_id] : []));
  const accounts = all.flatMap((one) => ("account_id" in one ? [one.account_id] : []));
  const { rows } = await sql<EventCounter & { account_id: number }>`
    select h.instance_id, h.last, i.account_id
    from (
      select id, account_id from instance where id = any(${instances}::bigint[]) and removed_at is null
      union
      select id, account_id from instance where account_id = any(${accounts}::bigint[]) and removed_at is null
    ) i join event_counter h on h.instance_id = i.id
    order by h.instance_id`.execute(db);
  const ofInstance = groupBy(rows, (row) => row.instance_id);
  const ofAccount = groupBy(rows, (row) => row.account_id);
  return all.map((one) => {
    if ("instance_id" in one) return ofInstance(one.instance_id);
    const isReached = withinReach(one);
    return ofAccount(one.account_id).filter(({ instance_id }) => isReached(instance_id));
  });
}

/** Returns whether more events can be read at once. */
async function passOn(
  db: Db,
  counters: readonly EventCounter[],
  passed: Map<number, number>,
  pass: (item: FeedItem) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  let isBehind = false;
  for (const { instance_id, last } of counters) {
    const from = passed.get(instance_id) ?? 0;
    if (last <= from) continue;
    const items = await readItems(db, instance_id, from);
    for (const item of items) {
      if (signal.aborted) return false;
      await pass(item);
    }
    // Skips events that retention has deleted meanwhile.
    passed.set(instance_id, items.at(-1)?.sequence ?? last);
    isBehind ||= items.length === PAGE;
  }
  return isBehind;
}

function readItems(db: Db, instanceId: number, after: number): Promise<FeedItem[]> {
  return db
    .selectFrom("event")
    .select(["instance_id", "sequence", "event_id", "event", "body"])
    .where("instance_id", "=", instanceId)
    .where("sequence", ">", after)
    .orderBy("sequence")
    .limit(PAGE)
    .execute();
}
