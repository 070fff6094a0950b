import { sql } from "kysely";
import type { Trx } from "../db/database.ts";

/** What is counted: its kind, and a digest that names no person. */
export interface CountedKey {
  kind: string;
  key: Buffer;
}

export interface CounterRule {
  /** Uses without a wait. */
  limit: number;
  /**
   * The wait after them. `window`: until this many seconds have passed since the first use. `backoff`: one
   * second from the last use, doubled with each further one, at most this many seconds.
   */
  wait: "window" | "backoff";
  seconds: number;
}

/**
 * Counts one use, for all nodes together, and locks the key until the commit. Returns 0, or the seconds until
 * the key can be used again.
 */
export async function countUse(trx: Trx, { kind, key }: CountedKey, rule: CounterRule): Promise<number> {
  const { wait, since, forgottenAfter } = toSql(rule);
  const isOver = sql`${since} + make_interval(secs => ${forgottenAfter}) < now()`;
  const { rows } = await sql`
    insert into use_counter as g (kind, key, uses) values (${kind}, ${key}, 1)
    on conflict (kind, key) do update set
      uses = case when ${isOver} then 1 else g.uses + 1 end,
      started_at = case when ${isOver} then now() else g.started_at end,
      last_at = now()
    where ${isOver} or ${wait} = 0 or ${since} + make_interval(secs => ${wait}) <= now()
    returning 1`.execute(trx);
  if (rows.length > 0) return 0;
  const { rows: refused } = await sql<{ seconds: number }>`
    select extract(epoch from ${since} + make_interval(secs => ${wait}) - now())::float8 as seconds
    from use_counter g where kind = ${kind} and key = ${key}`.execute(trx);
  return refused[0]?.seconds ?? 1;
}

export async function uncountUse(trx: Trx, { kind, key }: CountedKey): Promise<void> {
  await sql`update use_counter set uses = uses - 1 where kind = ${kind} and key = ${key}`.execute(trx);
}

export async function resetUses(trx: Trx, { kind, key }: CountedKey): Promise<void> {
  await sql`update use_counter set uses = 0 where kind = ${kind} and key = ${key}`.execute(trx);
}

/** Deletes keys that were last used an hour ago in small steps, faster than uses can add new ones. */
export async function deleteOldCounts(trx: Trx): Promise<void> {
  await sql`
    delete from use_counter where (kind, key) in (
      select kind, key from use_counter where last_at < now() - interval '1 hour'
      limit 20 for update skip locked)`.execute(trx);
}

/** Of a row `g`: the seconds to wait, the moment from which they count, and when the uses are forgotten. */
function toSql({ limit, wait: kind, seconds }: CounterRule) {
  if (kind === "window") {
    const wait = sql`case when g.uses < ${limit}::int then 0 else ${seconds} end`;
    return { wait, since: sql`g.started_at`, forgottenAfter: sql`${seconds}` };
  }
  const wait = sql`case when g.uses < ${limit}::int then 0
    else least(2 ^ least(g.uses - ${limit}::int, 20), ${seconds}) end`;
  return { wait, since: sql`g.last_at`, forgottenAfter: sql`${seconds} + ${wait}` };
}
