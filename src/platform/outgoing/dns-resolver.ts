import { promises as dns, type LookupAddress } from "node:dns";
import { LRUCache } from "lru-cache";

/** All addresses of a name; rejects if there are none. */
export type DnsResolver = (hostname: string) => Promise<LookupAddress[]>;

const AT_ONCE = 2;
const SLOW_MS = 3000;
const REST_MS = 30_000;
/** Longer than the connection timeout: after it, the caller has timed out. */
const PATIENCE_MS = 6000;
const MAX_RESTING = 1000;
const MAX_KNOWN = 10_000;

/** The name could not be resolved. */
export class DnsResolutionError extends Error {
  override readonly name = "NameError";
}

/**
 * Resolves names with the system resolver and limits its load, because it shares a thread pool with files and
 * passwords. Runs two lookups at once and merges equal ones. Caches a slow failure for 30 s. Domains that do
 * not respond get at most one of the two slots.
 */
export function createDnsResolver(lookup: DnsResolver = systemLookup): DnsResolver {
  const line = new LookupQueue(lookup);
  return (hostname) => line.ask(hostname);
}

interface PendingLookup {
  isRunning: boolean;
  /** Time of the last request for this name, on the clock of `performance`. */
  at: number;
  result: Promise<LookupAddress[]>;
  answer(result: Promise<LookupAddress[]>): void;
}

class LookupQueue {
  readonly #lookup: DnsResolver;
  readonly #asked = new Map<string, PendingLookup>();
  readonly #restsUntil = new LRUCache<string, number>({ max: MAX_RESTING });
  readonly #answered = new LRUCache<string, true>({ max: MAX_KNOWN });
  /** Domains that failed slowly, or have a pending lookup of a name that has not resolved yet. */
  readonly #doubted = new LRUCache<string, true>({ max: MAX_KNOWN });
  #running = 0;
  /** Running lookups of names that have not resolved yet. */
  #unproven = 0;

  constructor(lookup: DnsResolver) {
    this.#lookup = lookup;
  }

  ask(hostname: string): Promise<LookupAddress[]> {
    if ((this.#restsUntil.get(hostname) ?? 0) > performance.now()) {
      return Promise.reject(
        new DnsResolutionError("a recent lookup of the name failed slowly; it is repeated later"),
      );
    }
    const asked = this.#asked.get(hostname) ?? newlyAsked();
    asked.at = performance.now();
    this.#asked.set(hostname, asked);
    this.#startNext();
    return asked.result;
  }

  #startNext(): void {
    const oldest = performance.now() - PATIENCE_MS;
    for (const [hostname, asked] of this.#asked) {
      if (this.#running === AT_ONCE) return;
      if (asked.isRunning) continue;
      if (asked.at < oldest) {
        this.#asked.delete(hostname);
        asked.answer(Promise.reject(new DnsResolutionError("the name was not looked up in time")));
      } else if (this.#mayBegin(hostname)) {
        asked.isRunning = true;
        asked.answer(this.#run(hostname));
      }
    }
  }

  #mayBegin(hostname: string): boolean {
    return this.#unproven === 0 || this.#answered.has(hostname) || !this.#doubted.has(domainOf(hostname));
  }

  async #run(hostname: string): Promise<LookupAddress[]> {
    const unproven = this.#answered.has(hostname) ? 0 : 1;
    if (unproven) this.#doubted.set(domainOf(hostname), true);
    this.#running += 1;
    this.#unproven += unproven;
    try {
      return await this.#timed(hostname);
    } finally {
      this.#running -= 1;
      this.#unproven -= unproven;
      this.#asked.delete(hostname);
      this.#startNext();
    }
  }

  async #timed(hostname: string): Promise<LookupAddress[]> {
    const began = performance.now();
    const domain = domainOf(hostname);
    try {
      const addresses = await this.#lookup(hostname);
      this.#answered.set(hostname, true);
      this.#doubted.delete(domain);
      return addresses;
    } catch (cause) {
      this.#answered.delete(hostname);
      const now = performance.now();
      if (now - began > SLOW_MS) {
        this.#doubted.set(domain, true);
        this.#restsUntil.set(hostname, now + REST_MS);
      } else {
        this.#doubted.delete(domain);
      }
      throw new DnsResolutionError("the name could not be resolved", { cause });
    }
  }
}

function newlyAsked(): PendingLookup {
  let answer: PendingLookup["answer"] = () => {};
  const result = new Promise<LookupAddress[]>((resolve) => {
    answer = resolve;
  });
  // The caller may no longer wait.
  result.catch(() => {});
  return { isRunning: false, at: 0, result, answer };
}

function systemLookup(hostname: string): Promise<LookupAddress[]> {
  return dns.lookup(hostname, { all: true, verbatim: true });
}

/** The part of a name whose subdomains probably share a name server. */
function domainOf(hostname: string): string {
  return hostname.split(".").slice(-2).join(".");
}
