import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";
import { GatewayError } from "../../platform/errors.ts";
import { parseIp } from "../../platform/ip-address.ts";

const WINDOW_MS = 15 * 60_000;
const FREE_FAILURES = 5;
const FIRST_WAIT_MS = 1_000;
const FAILURES_PER_ADDRESS = 20;
const MOST_REMEMBERED = 20_000;

/** One try to sign in that was let through; its end is told once. `cancelled`: neither right nor wrong. */
export interface Attempt {
  end(how: "right" | "wrong" | "cancelled"): void;
}

/**
 * Slows down guessing: five failures per account, then a wait of 1 s that doubles up to 15 minutes and never becomes a
 * lock; twenty failures in 15 minutes per address of the peer.
 */
export interface Throttle {
  /** Throws RATE_LIMITED with the seconds to wait. Many tries at one account wait for each other's end. */
  begin(account: string, ip: string): Promise<Attempt>;
}

export function createThrottle(clock: Clock): Throttle {
  const accounts = new LRUCache<string, Guesses>({ max: MOST_REMEMBERED });
  const addresses = new LRUCache<string, number[]>({ max: MOST_REMEMBERED });

  return {
    async begin(account, ip) {
      const address = networkOf(ip);
      const mark = markAddress(addresses, address, clock.monotonicMs());
      const guesses = await takeTurn(accounts, account, clock).catch((refusal: unknown) => {
        unmarkAddress(addresses, address, mark);
        throw refusal;
      });
      return {
        end(how) {
          if (how !== "wrong") unmarkAddress(addresses, address, mark);
          endGuess(guesses, how, clock.monotonicMs());
        },
      };
    },
  };
}

interface Guesses {
  failures: number;
  lastAt: number;
  running: number;
  waiting: (() => void)[];
}

/** Those under way may all turn out wrong, so they count as failures until they have ended. */
async function takeTurn(
  accounts: LRUCache<string, Guesses>,
  account: string,
  clock: Clock,
): Promise<Guesses> {
  let guesses = readGuesses(accounts, account, clock.monotonicMs());
  while (guesses.running > 0 && guesses.failures + guesses.running >= FREE_FAILURES) {
    const { waiting } = guesses;
    await new Promise<void>((resolve) => waiting.push(resolve));
    guesses = readGuesses(accounts, account, clock.monotonicMs());
  }
  const waitMs = guesses.lastAt + waitAfter(guesses.failures) - clock.monotonicMs();
  if (waitMs > 0) throw tooMany(waitMs);
  // Before anything is awaited: who asks next must see it.
  guesses.running++;
  return guesses;
}

function readGuesses(accounts: LRUCache<string, Guesses>, account: string, now: number): Guesses {
  const known = accounts.get(account);
  if (known && (known.running > 0 || now - known.lastAt <= WINDOW_MS + waitAfter(known.failures)))
    return known;
  const fresh: Guesses = { failures: 0, lastAt: Number.NEGATIVE_INFINITY, running: 0, waiting: [] };
  accounts.set(account, fresh);
  return fresh;
}

function endGuess(guesses: Guesses, how: "right" | "wrong" | "cancelled", now: number): void {
  guesses.running--;
  if (how === "right") guesses.failures = 0;
  if (how === "wrong") {
    guesses.failures++;
    guesses.lastAt = now;
  }
  for (const wake of guesses.waiting.splice(0)) wake();
}

function waitAfter(failures: number): number {
  if (failures < FREE_FAILURES) return 0;
  return Math.min(FIRST_WAIT_MS * 2 ** (failures - FREE_FAILURES), WINDOW_MS);
}

function markAddress(addresses: LRUCache<string, number[]>, address: string, now: number): number {
  const marks = (addresses.get(address) ?? []).filter((at) => now - at < WINDOW_MS);
  const [oldest] = marks;
  if (oldest !== undefined && marks.length >= FAILURES_PER_ADDRESS) throw tooMany(oldest + WINDOW_MS - now);
  addresses.set(address, [...marks, now]);
  return now;
}

function unmarkAddress(addresses: LRUCache<string, number[]>, address: string, mark: number): void {
  const marks = addresses.get(address) ?? [];
  const at = marks.indexOf(mark);
  if (at >= 0) addresses.set(address, marks.toSpliced(at, 1));
}

/** What an address counts for: one person easily has a whole /64 of IPv6 addresses. */
export function networkOf(text: string): string {
  const ip = parseIp(text);
  return ip?.kind() === "ipv6" ? ip.toByteArray().slice(0, 8).join(".") : text;
}

function tooMany(waitMs: number): GatewayError {
  return new GatewayError("RATE_LIMITED", "Too many wrong sign-ins. Wait before the next one.", {
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}
