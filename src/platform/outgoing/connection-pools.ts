import { LRUCache } from "lru-cache";
import { Client, type Dispatcher, ProxyAgent } from "undici";
import type { AddressPolicy, NetworkTarget } from "./address-policy.ts";
import { ClosedError } from "./classify-fetch-failure.ts";
import type { DnsResolver } from "./dns-resolver.ts";
import { createOutgoingConnector } from "./outgoing-connector.ts";
import { readInPieces } from "./read-in-pieces.ts";

const MAX_ORIGINS = 500;
const SOCKETS_PER_ORIGIN = 4;
const CONNECT_MS = 5000;

const CLOSED = new ClosedError("outgoing requests are closed");

const LIMITS = {
  pipelining: 1,
  // Each request has its own deadline, and no other timeout may end it earlier.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 30_000,
  keepAliveMaxTimeout: 30_000,
  maxHeaderSize: 16 * 1024,
} as const;

/** One keep-alive socket, leased to one request. */
export interface LeasedSocket {
  readonly dispatcher: Dispatcher;
  /** Returns the socket, or closes it after a fault. Only the first invocation counts. */
  release(fault?: Error): void;
}

export interface PoolDestination {
  origin: string;
  target: NetworkTarget;
  /** Separates sockets that were checked under different policies. */
  policyKey: string;
  policy: AddressPolicy;
  /** Opens an extra socket instead of waiting for one of the four. */
  isPaced?: boolean;
}

/** Sockets by origin: an origin that hangs blocks only its own four sockets. */
export interface ConnectionPools {
  lease(destination: PoolDestination): Promise<LeasedSocket>;
  readonly size: number;
  /** Closes every socket; its users and waiters get a ClosedError. */
  close(): Promise<void>;
}

interface Origin {
  sockets: Set<Dispatcher>;
  idle: Dispatcher[];
  waiting: { resolve(dispatcher: Dispatcher): void; reject(error: Error): void }[];
  open(): Dispatcher;
}

// undici's own pool would reconnect after every aborted request and queue requests that have already timed out.
export function createConnectionPools(options: {
  lookup: DnsResolver;
  egressProxy: string | undefined;
  /** Longest time until a connection stands; 5,000 by default. */
  connectMs?: number | undefined;
}): ConnectionPools {
  const { lookup, egressProxy, connectMs = CONNECT_MS } = options;
  const origins = new LRUCache<string, Origin>({
    max: MAX_ORIGINS,
    // Leased sockets stay open; once idle, they close after 30 s.
    dispose: (origin) => void cut(origin, origin.idle.splice(0)),
  });

  function originOf({ origin, target, policyKey, policy }: PoolDestination): Origin {
    const key = `${policyKey} ${origin}`;
    const known = origins.get(key);
    if (known !== undefined) {
      return known;
    }
    const open = (): Dispatcher =>
      egressProxy === undefined
        ? new Client(origin, {
            ...LIMITS,
            connect: createOutgoingConnector(policy, target, lookup, connectMs),
          })
        : openProxied(egressProxy, connectMs);
    const made: Origin = { sockets: new Set(), idle: [], waiting: [], open };
    origins.set(key, made);
    return made;
  }

  return {
    async lease(destination) {
      const origin = originOf(destination);
      return leaseOf(origin, await acquire(origin, destination));
    },
    get size() {
      return origins.size;
    },
    async close() {
      const all = [...origins.values()];
      origins.clear();
      for (const waiting of all.flatMap((origin) => origin.waiting.splice(0))) {
        waiting.reject(CLOSED);
      }
      await Promise.all(all.map((origin) => cut(origin, [...origin.sockets])));
    },
  };
}

function acquire(origin: Origin, { isPaced }: PoolDestination): Dispatcher | Promise<Dispatcher> {
  const idle = origin.idle.pop();
  if (idle !== undefined) {
    return idle;
  }
  if (isPaced || origin.sockets.size < SOCKETS_PER_ORIGIN) {
    return openSocket(origin);
  }
  return new Promise((resolve, reject) => origin.waiting.push({ resolve, reject }));
}

function openSocket(origin: Origin): Dispatcher {
  const dispatcher = origin.open();
  origin.sockets.add(dispatcher);
  return dispatcher;
}

function leaseOf(origin: Origin, dispatcher: Dispatcher): LeasedSocket {
  let isEnded = false;
  return {
    dispatcher,
    release(fault) {
      if (!isEnded) {
        isEnded = true;
        returnSocket(origin, dispatcher, fault);
      }
    },
  };
}

function returnSocket(origin: Origin, dispatcher: Dispatcher, fault: Error | undefined): void {
  if (fault !== undefined) {
    origin.sockets.delete(dispatcher);
    void dispatcher.destroy(fault);
  }
  const next = origin.waiting.shift();
  if (next !== undefined) {
    next.resolve(fault === undefined ? dispatcher : openSocket(origin));
  } else if (fault === undefined) {
    origin.idle.push(dispatcher);
  }
}

async function cut(origin: Origin, dispatchers: Dispatcher[]): Promise<void> {
  await Promise.all(
    dispatchers.map((dispatcher) => {
      origin.sockets.delete(dispatcher);
      return dispatcher.destroy(CLOSED);
    }),
  );
}

function openProxied(uri: string, connectMs: number): Dispatcher {
  return new ProxyAgent({
    ...LIMITS,
    uri,
    connections: 1,
    proxyTls: { timeout: connectMs },
    // The request for the tunnel has the same limits.
    clientFactory: (origin, client) =>
      new Client(origin, { ...client, headersTimeout: LIMITS.headersTimeout }),
    factory: openTunnelled,
  });
}

function openTunnelled(origin: string | URL, options: object): Dispatcher {
  const client: Client.Options = options;
  if (typeof client.connect !== "function") return new Client(origin, client);
  return new Client(origin, { ...client, connect: readInPieces(client.connect) });
}
