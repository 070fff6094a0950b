import { promises as dns, type LookupAddress } from "node:dns";
import { LRUCache } from "lru-cache";
import { maxEntries } from "../limits/max-entries.ts";

/** All addresses of a name; rejects if there are none. */
export type DnsResolver = (hostname: string) => Promise<LookupAddress[]>;

const AT_ONCE = 2;
const SLOW_MS = 3000;
const NEGATIVE_CACHE_MS = 30_000;
/** Longer than the connection timeout: after it, the caller has timed out. */
const TIMEOUT_MS = 6000;
const MAX_FAILED = 1000;
const MAX_KNOWN = 10_000;

/** The name could not be resolved. */
export class DnsResolutionError extends Error {
  override readonly name = "DnsResolutionError";
}

/**
 * Resolves names with the system resolver and limits its load, because it shares a thread pool with files and
 * passwords. Runs two lookups at once and merges equal ones. Caches a slow failure for 30 s. Domains that do
 * not respond get at most one of the two slots.
 */
export function createDnsResolver(lookup: DnsResolver = systemLookup): DnsResolver {
  const queue = new LookupQueue(lookup);
  return (hostname) => queue.resolve(hostname);
}

interface PendingLookup {
  isRunning: boolean;
  /** Time of the last request for this name, on the clock of `performance`. */
  at: number;
  result: Promise<LookupAddress[]>;
  resolve(result: Promise<LookupAddress[]>): void;
}

class LookupQueue {
  readonly #lookup: DnsResolver;
  readonly #pending = new Map<string, PendingLookup>();
  readonly #failedUntil = new LRUCache<string, number>(maxEntries(MAX_FAILED));
  readonly #resolved = new LRUCache<string, true>(maxEntries(MAX_KNOWN));
  /** Domains that failed slowly, or have a pending lookup of a name that has not resolved yet. */
  readonly #suspectDomains = new LRUCache<string, true>(maxEntries(MAX_KNOWN));
  #running = 0;
  /** Running lookups of names that have not resolved yet. */
  #unproven = 0;

  constructor(lookup: DnsResolver) {
    this.#lookup = lookup;
  }

  resolve(hostname: string): Promise<LookupAddress[]> {
    if ((this.#failedUntil.get(hostname) ?? 0) > performance.now()) {
      return Promise.reject(
        new DnsResolutionError("a recent lookup of the name failed slowly; it is repeated later"),
      );
    }
    const pending = this.#pending.get(hostname) ?? newLookup();
    pending.at = performance.now();
    this.#pending.set(hostname, pending);
    this.#startNext();
    return pending.result;
  }

  #startNext(): void {
    const oldest = performance.now() - TIMEOUT_MS;
    for (const [hostname, pending] of this.#pending) {
      if (this.#running === AT_ONCE) return;
      if (pending.isRunning) continue;
      if (pending.at < oldest) {
        this.#pending.delete(hostname);
        pending.resolve(Promise.reject(new DnsResolutionError("the name was not looked up in time")));
      } else if (this.#mayBegin(hostname)) {
        pending.isRunning = true;
        pending.resolve(this.#run(hostname));
      }
    }
  }

  #mayBegin(hostname: string): boolean {
    return (
      this.#unproven === 0 || this.#resolved.has(hostname) || !this.#suspectDomains.has(domainOf(hostname))
    );
  }

  async #run(hostname: string): Promise<LookupAddress[]> {
    const unproven = this.#resolved.has(hostname) ? 0 : 1;
    if (unproven) this.#suspectDomains.set(domainOf(hostname), true);
    this.#running += 1;
    this.#unproven += unproven;
    try {
      return await this.#timed(hostname);
    } finally {
      this.#running -= 1;
      this.#unproven -= unproven;
      this.#pending.delete(hostname);
      this.#startNext();
    }
  }

  async #timed(hostname: string): Promise<LookupAddress[]> {
    const began = performance.now();
    const domain = domainOf(hostname);
    try {
      const addresses = await this.#lookup(hostname);
      this.#resolved.set(hostname, true);
      this.#suspectDomains.delete(domain);
      return addresses;
    } catch (cause) {
      this.#resolved.delete(hostname);
      const now = performance.now();
      if (now - began > SLOW_MS) {
        this.#suspectDomains.set(domain, true);
        this.#failedUntil.set(hostname, now + NEGATIVE_CACHE_MS);
      } else {
        this.#suspectDomains.delete(domain);
      }
      throw new DnsResolutionError("the name could not be resolved", { cause });
    }
  }
}

function newLookup(): PendingLookup {
  let resolve: PendingLookup["resolve"] = () => {};
  const result = new Promise<LookupAddress[]>((fulfil) => {
    resolve = fulfil;
  });
  // The caller may no longer wait.
  result.catch(() => {});
  return { isRunning: false, at: 0, result, resolve };
}

function systemLookup(hostname: string): Promise<LookupAddress[]> {
  return dns.lookup(hostname, { all: true, verbatim: true });
}

/** The part of a name whose subdomains probably share a name server. */
function domainOf(hostname: string): string {
  return hostname.split(".").slice(-2).join(".");
}
