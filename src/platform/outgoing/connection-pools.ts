import { LRUCache } from "lru-cache";
import { Client, type Dispatcher, ProxyAgent } from "undici";
import type { AddressPolicy, NetworkTarget } from "./address-policy.ts";
import { ClosedError } from "./classify-fetch-failure.ts";
import type { DnsResolver } from "./dns-resolver.ts";
import { createOutgoingConnector } from "./outgoing-connector.ts";

const MAX_ORIGINS = 500;
const LINES_PER_ORIGIN = 4;
const CONNECT_MS = 5000;

const CLOSED = new ClosedError("outgoing calls are closed");

const LIMITS = {
  pipelining: 1,
  // Each call has a deadline of its own, and no other time limit may end it earlier.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 30_000,
  keepAliveMaxTimeout: 30_000,
  maxHeaderSize: 16 * 1024,
} as const;

/** One kept-alive socket, lent to one call. */
export interface LeasedSocket {
  readonly dispatcher: Dispatcher;
  /** Gives the line back, or cuts it when something went wrong on it. Only the first call counts. */
  end(fault?: Error): void;
}

export interface PoolDestination {
  origin: string;
  target: NetworkTarget;
  /** Keeps sockets apart that were checked under different policies. */
  whose: string;
  policy: AddressPolicy;
  /** Opens a line where others wait for one of the four. */
  isPaced?: boolean;
}

/** Sockets by origin: one that hangs holds its own four lines and nobody else's. */
export interface ConnectionPools {
  borrow(destination: PoolDestination): Promise<LeasedSocket>;
  readonly size: number;
  /** Cuts every line; whoever uses or awaits one sees a ClosedError. */
  close(): Promise<void>;
}

interface Origin {
  lines: Set<Dispatcher>;
  idle: Dispatcher[];
  waiting: { take(dispatcher: Dispatcher): void; refuse(error: Error): void }[];
  open(): Dispatcher;
}

// A pool of undici's own would reconnect after every aborted call and queue calls that have already given up.
export function createConnectionPools(options: {
  lookup: DnsResolver;
  egressProxy: string | undefined;
}): ConnectionPools {
  const origins = new LRUCache<string, Origin>({
    max: MAX_ORIGINS,
    // Lines in use go on; idle ones that come back later close by themselves after 30 s.
    dispose: (origin) => void cut(origin, origin.idle.splice(0)),
  });

  function originOf({ origin, target, whose, policy }: PoolDestination): Origin {
    const key = `${whose} ${origin}`;
    const known = origins.get(key);
    if (known !== undefined) {
      return known;
    }
    const open = (): Dispatcher =>
      options.egressProxy === undefined
        ? new Client(origin, { ...LIMITS, connect: createOutgoingConnector(policy, target, options.lookup) })
        : openProxied(options.egressProxy);
    const made: Origin = { lines: new Set(), idle: [], waiting: [], open };
    origins.set(key, made);
    return made;
  }

  return {
    async borrow(destination) {
      const origin = originOf(destination);
      return lineOf(origin, await acquire(origin, destination));
    },
    get size() {
      return origins.size;
    },
    async close() {
      const all = [...origins.values()];
      origins.clear();
      for (const waiting of all.flatMap((origin) => origin.waiting.splice(0))) {
        waiting.refuse(CLOSED);
      }
      await Promise.all(all.map((origin) => cut(origin, [...origin.lines])));
    },
  };
}

function acquire(origin: Origin, { isPaced }: PoolDestination): Dispatcher | Promise<Dispatcher> {
  const idle = origin.idle.pop();
  if (idle !== undefined) {
    return idle;
  }
  if (isPaced || origin.lines.size < LINES_PER_ORIGIN) {
    return openLine(origin);
  }
  return new Promise((take, refuse) => origin.waiting.push({ take, refuse }));
}

function openLine(origin: Origin): Dispatcher {
  const dispatcher = origin.open();
  origin.lines.add(dispatcher);
  return dispatcher;
}

function lineOf(origin: Origin, dispatcher: Dispatcher): LeasedSocket {
  let isEnded = false;
  return {
    dispatcher,
    end(fault) {
      if (!isEnded) {
        isEnded = true;
        handBack(origin, dispatcher, fault);
      }
    },
  };
}

function handBack(origin: Origin, dispatcher: Dispatcher, fault: Error | undefined): void {
  if (fault !== undefined) {
    origin.lines.delete(dispatcher);
    void dispatcher.destroy(fault);
  }
  const next = origin.waiting.shift();
  if (next !== undefined) {
    next.take(fault === undefined ? dispatcher : openLine(origin));
  } else if (fault === undefined) {
    origin.idle.push(dispatcher);
  }
}

async function cut(origin: Origin, dispatchers: Dispatcher[]): Promise<void> {
  await Promise.all(
    dispatchers.map((dispatcher) => {
      origin.lines.delete(dispatcher);
      return dispatcher.destroy(CLOSED);
    }),
  );
}

function openProxied(uri: string): Dispatcher {
  return new ProxyAgent({
    ...LIMITS,
    uri,
    connections: 1,
    proxyTls: { timeout: CONNECT_MS },
    // The tunnel is asked for with the limits of the call, too.
    clientFactory: (origin, client) =>
      new Client(origin, { ...client, headersTimeout: LIMITS.headersTimeout }),
  });
}
