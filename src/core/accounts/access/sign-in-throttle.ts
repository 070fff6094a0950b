import { createHmac } from "node:crypto";
import type { Db } from "../../../platform/db/database.ts";
import {
  type CounterRule,
  countUse,
  deleteOldCounts,
  resetUses,
  uncountUse,
} from "../../../platform/db/database-counter.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { Semaphore } from "../../../platform/limits/semaphore.ts";
import { type Ip, parseIp, withoutIpv4Mapping } from "../../../platform/outgoing/ip-address.ts";

/** One admitted attempt to sign in; report its end once. `cancelled`: neither right nor wrong. */
export interface SignInAttempt {
  /**
   * Seconds until the network, or its /48, has failures left; 0 if it has. Until then only a right password is accepted,
   * so that a stranger cannot keep out everybody behind the same address.
   */
  networkWait: number;
  end(how: "right" | "wrong" | "cancelled"): Promise<void>;
}

export interface SignInSource {
  ip: string;
  /** A known device of the user whose password is checked. */
  device?: string;
}

/**
 * Limits password guessing across all nodes. Per e-mail and network, five failures lead to a wait of 1 s that
 * doubles up to 15 minutes; in 15 minutes, at most 20 failures per network, 200 per IPv6 /48 and 100 per e-mail. Known
 * devices count separately, so that an attacker cannot lock out the owner.
 */
export interface SignInThrottle {
  /** Throws RATE_LIMITED with the seconds to wait, but not for the network alone. On one node, attempts at one pair run sequentially. */
  begin(email: string, from: SignInSource): Promise<SignInAttempt>;
}

type Kind = "network" | "site" | "pair" | "account" | "device";

interface Counter {
  kind: Kind;
  key: Buffer;
}

/** One customer of a provider often has a whole /48, which is 65,536 networks: it counts as ten of them. */
export const NETWORKS_OF_SITE = 10;

const RULES: Record<Kind, CounterRule> = {
  network: { limit: 20, wait: "window", seconds: 900 },
  site: { limit: 20 * NETWORKS_OF_SITE, wait: "window", seconds: 900 },
  account: { limit: 100, wait: "window", seconds: 900 },
  pair: { limit: 5, wait: "backoff", seconds: 900 },
  device: { limit: 5, wait: "backoff", seconds: 900 },
};
const MOST_WAITING = 20;

export interface SignInThrottleOptions {
  db: Db;
  /** Key of the digests: the table stores no addresses. */
  digestKey: string;
}

export function createSignInThrottle({ db, digestKey }: SignInThrottleOptions): SignInThrottle {
  // Sequential, so that simultaneous right attempts do not count as failures of each other.
  const turns = new Semaphore({ limitPerKey: 1 });
  const counter = (kind: Kind, text: string): Counter => ({
    kind,
    key: createHmac("sha256", digestKey).update(`${kind}|${text}`).digest(),
  });

  function countersOf(email: string, { ip, device }: SignInSource): Counter[] {
    if (device !== undefined) return [counter("device", device)];
    const network = networkOf(ip);
    const site = siteOf(ip);
    return [
      counter("network", network),
      ...(site === undefined ? [] : [counter("site", site)]),
      counter("pair", `${email}|${network}`),
      counter("account", email),
    ];
  }

  return {
    async begin(email, from) {
      const counters = countersOf(email, from);
      const key = counters.map((one) => one.key.toString("base64")).join();
      if (turns.countWaiting(key) >= MOST_WAITING) throw tooManyFailures(1);
      const turn = await turns.acquire({ key });
      let reserved: Reserved;
      try {
        reserved = await reserve(db, counters);
      } catch (refusal) {
        turn.release();
        throw refusal;
      }
      const { counted, networkWait } = reserved;
      return {
        networkWait,
        async end(how) {
          try {
            if (how !== "wrong") await release(db, counted, how);
          } finally {
            turn.release();
          }
        },
      };
    },
  };
}

interface Reserved extends Pick<SignInAttempt, "networkWait"> {
  /** The counters that count the attempt. */
  counted: readonly Counter[];
}

/** An attempt counts as a failure until it ends, so a killed process cannot give free attempts. */
async function reserve(db: Db, counters: readonly Counter[]): Promise<Reserved> {
  return db.transaction().execute(async (trx) => {
    const counted: Counter[] = [];
    let networkWait = 0;
    for (const counter of counters) {
      const seconds = await countUse(trx, counter, RULES[counter.kind]);
      if (seconds === 0) counted.push(counter);
      else if (counter.kind === "network" || counter.kind === "site")
        networkWait = Math.max(networkWait, seconds);
      else throw tooManyFailures(seconds);
    }
    await deleteOldCounts(trx);
    return { counted, networkWait };
  });
}

/** A right password resets its pair or device; from the other counters it only removes its own attempt. */
async function release(db: Db, counters: readonly Counter[], how: "right" | "cancelled"): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const counter of counters) {
      const isReset = how === "right" && RULES[counter.kind].wait === "backoff";
      await (isReset ? resetUses(trx, counter) : uncountUse(trx, counter));
    }
  });
}

/** The unit in which addresses count: one person often has a whole /64 of IPv6 addresses. */
export function networkOf(text: string): string {
  const ip = canonicalIp(text);
  return ip?.kind() === "ipv6" ? prefixOf(ip, 8) : (ip?.toString() ?? text);
}

/** The /48 of an IPv6 address; undefined for others. */
export function siteOf(text: string): string | undefined {
  const ip = canonicalIp(text);
  return ip?.kind() === "ipv6" ? prefixOf(ip, 6) : undefined;
}

function canonicalIp(text: string): Ip | undefined {
  const parsed = parseIp(text);
  return parsed && withoutIpv4Mapping(parsed);
}

function prefixOf(ip: Ip, bytes: number): string {
  return ip.toByteArray().slice(0, bytes).join(".");
}

export function tooManyFailures(seconds: number): GatewayError {
  return new GatewayError(
    "RATE_LIMITED",
    "Too many failed sign-ins. Wait for the seconds in Retry-After, then try again.",
    {
      retryAfterSeconds: Math.max(1, Math.ceil(seconds)),
    },
  );
}
