import { createHmac } from "node:crypto";
import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { parseIp, withoutIpv4Mapping } from "../../platform/outgoing/ip-address.ts";

/** One admitted attempt to sign in; report its end once. `cancelled`: neither right nor wrong. */
export interface SignInAttempt {
  end(how: "right" | "wrong" | "cancelled"): Promise<void>;
}

export interface SignInSource {
  ip: string;
  /** A known device of the user whose password is checked. */
  device?: string;
}

/**
 * Limits password guessing across all nodes. Per e-mail and network, five failures lead to a wait of 1 s that
 * doubles up to 15 minutes; in 15 minutes, at most 20 failures per network and 100 per e-mail. Known devices
 * count separately, so that an attacker cannot lock out the owner.
 */
export interface SignInThrottle {
  /** Throws RATE_LIMITED with the seconds to wait. On one node, attempts at one pair run sequentially. */
  begin(email: string, from: SignInSource): Promise<SignInAttempt>;
}

type Kind = "network" | "pair" | "account" | "device";

interface Counter {
  kind: Kind;
  key: Buffer;
}

/** These count within 15 minutes; the other kinds double a wait. */
const MOST_IN_WINDOW: Partial<Record<Kind, number>> = { network: 20, account: 100 };
const FREE_FAILURES = 5;
const WINDOW_SECONDS = 900;
const MOST_WAITING = 20;

export interface SignInThrottleOptions {
  db: Db;
  /** Key of the digests: the table stores no addresses. */
  digestKey: string;
}

export function createSignInThrottle({ db, digestKey }: SignInThrottleOptions): SignInThrottle {
  const queues = new Map<string, (() => void)[]>();
  const counter = (kind: Kind, text: string): Counter => ({
    kind,
    key: createHmac("sha256", digestKey).update(`${kind}|${text}`).digest(),
  });

  function countersOf(email: string, { ip, device }: SignInSource): Counter[] {
    if (device !== undefined) return [counter("device", device)];
    const network = networkOf(ip);
    return [counter("network", network), counter("pair", `${email}|${network}`), counter("account", email)];
  }

  return {
    async begin(email, from) {
      const counters = countersOf(email, from);
      const name = counters.map(({ key }) => key.toString("base64")).join();
      await enterQueue(queues, name);
      try {
        await reserve(db, counters);
      } catch (refusal) {
        leaveQueue(queues, name);
        throw refusal;
      }
      return {
        async end(how) {
          try {
            if (how !== "wrong") await release(db, counters, how);
          } finally {
            leaveQueue(queues, name);
          }
        },
      };
    },
  };
}

/** Sequential, so that simultaneous right attempts do not count as failures of each other. */
async function enterQueue(queues: Map<string, (() => void)[]>, name: string): Promise<void> {
  const waiting = queues.get(name);
  if (!waiting) {
    queues.set(name, []);
    return;
  }
  if (waiting.length >= MOST_WAITING) throw tooMany(1);
  await new Promise<void>((resolve) => waiting.push(resolve));
}

function leaveQueue(queues: Map<string, (() => void)[]>, name: string): void {
  const next = queues.get(name)?.shift();
  if (next) next();
  else queues.delete(name);
}

/** An attempt counts as a failure until it ends, so a killed process cannot give free attempts. */
async function reserve(db: Db, counters: readonly Counter[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const counter of counters) await count(trx, counter);
    await deleteOld(trx);
  });
}

async function count(trx: Trx, { kind, key }: Counter): Promise<void> {
  const most = MOST_IN_WINDOW[kind];
  const wait = most === undefined ? waitAfter : waitOfWindow(most);
  const age = most === undefined ? sql`g.last_at` : sql`g.started_at`;
  const isOver = sql`${age} + make_interval(secs => ${WINDOW_SECONDS} + ${most === undefined ? waitAfter : sql`0`}) < now()`;
  const { rows } = await sql`
    insert into sign_in_failure as g (kind, key, failures) values (${kind}, ${key}, 1)
    on conflict (kind, key) do update set
      failures = case when ${isOver} then 1 else g.failures + 1 end,
      started_at = case when ${isOver} then now() else g.started_at end,
      last_at = now()
    where ${isOver} or ${wait} = 0 or ${age} + make_interval(secs => ${wait}) <= now()
    returning 1`.execute(trx);
  if (rows.length > 0) return;
  const { rows: refused } = await sql<{ seconds: number }>`
    select extract(epoch from ${age} + make_interval(secs => ${wait}) - now())::float8 as seconds
    from sign_in_failure g where kind = ${kind} and key = ${key}`.execute(trx);
  throw tooMany(refused[0]?.seconds ?? 1);
}

/** Seconds from the last failure to the next attempt. */
const waitAfter = sql`case when g.failures < ${FREE_FAILURES}::int then 0
  else least(2 ^ least(g.failures - ${FREE_FAILURES}::int, 20), ${WINDOW_SECONDS}) end`;

/** Seconds from the first failure of a window to the next attempt. */
function waitOfWindow(most: number) {
  return sql`case when g.failures < ${most}::int then 0 else ${WINDOW_SECONDS} end`;
}

/** A right password resets its pair or device; from the other counters it only removes its own attempt. */
async function release(db: Db, counters: readonly Counter[], how: "right" | "cancelled"): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const { kind, key } of counters) {
      const left = how === "right" && MOST_IN_WINDOW[kind] === undefined ? sql`0` : sql`failures - 1`;
      await sql`update sign_in_failure set failures = ${left} where kind = ${kind} and key = ${key}`.execute(
        trx,
      );
    }
  });
}

/** Deletes stale rows in small steps, faster than attempts can add new ones. */
async function deleteOld(trx: Trx): Promise<void> {
  await sql`
    delete from sign_in_failure where (kind, key) in (
      select kind, key from sign_in_failure where last_at < now() - interval '1 hour'
      limit 20 for update skip locked)`.execute(trx);
}

/** The unit in which addresses count: one person often has a whole /64 of IPv6 addresses. */
export function networkOf(text: string): string {
  const parsed = parseIp(text);
  if (!parsed) return text;
  const ip = withoutIpv4Mapping(parsed);
  return ip.kind() === "ipv6" ? ip.toByteArray().slice(0, 8).join(".") : ip.toString();
}

function tooMany(seconds: number): GatewayError {
  return new GatewayError(
    "RATE_LIMITED",
    "Too many failed sign-ins. Wait for the seconds in Retry-After, then try again.",
    {
      retryAfterSeconds: Math.max(1, Math.ceil(seconds)),
    },
  );
}
