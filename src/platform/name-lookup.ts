import { promises as dns, type LookupAddress } from "node:dns";
import { LRUCache } from "lru-cache";

/** All addresses of a name; rejects when there are none. */
export type NameLookup = (hostname: string) => Promise<LookupAddress[]>;

const AT_ONCE = 2;
const SLOW_MS = 3000;
const REST_MS = 30_000;
const MAX_RESTING = 1000;

/** The name could not be resolved. */
export class NameError extends Error {
  override readonly name = "NameError";
}

/**
 * The system's name resolution, kept from harming others: it runs in the thread pool that files and passwords share,
 * so two lookups run at once, equal ones are merged, and a name that failed slowly rests for 30 s.
 */
export function createNameLookup(lookup: NameLookup = systemLookup): NameLookup {
  const running = new Map<string, Promise<LookupAddress[]>>();
  const restsUntil = new LRUCache<string, number>({ max: MAX_RESTING });
  const inTurn = createTurns(AT_ONCE);

  async function timed(hostname: string): Promise<LookupAddress[]> {
    const began = performance.now();
    try {
      return await lookup(hostname);
    } catch (cause) {
      const now = performance.now();
      if (now - began > SLOW_MS) {
        restsUntil.set(hostname, now + REST_MS);
      }
      throw new NameError("the name could not be resolved", { cause });
    } finally {
      running.delete(hostname);
    }
  }

  return (hostname) => {
    if ((restsUntil.get(hostname) ?? 0) > performance.now()) {
      return Promise.reject(new NameError("the name failed slowly and rests"));
    }
    const started = running.get(hostname) ?? inTurn(() => timed(hostname));
    running.set(hostname, started);
    return started;
  };
}

function systemLookup(hostname: string): Promise<LookupAddress[]> {
  return dns.lookup(hostname, { all: true, verbatim: true });
}

function createTurns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = atOnce;
  return async (work) => {
    if (free === 0) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      free -= 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) {
        free += 1;
      } else {
        next();
      }
    }
  };
}
