import { AsyncLocalStorage } from "node:async_hooks";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import { GatewayError } from "../gateway-error.ts";
import { Semaphore } from "../limits/semaphore.ts";

/** The request that work is done for. */
export interface RequestScope {
  /** Whose request it is; connections are shared fairly between accounts. */
  account_id: number | undefined;
  /** Set if the request only reads: once its client has left, its statements end. */
  signal?: AbortSignal;
}

interface RunningRequest extends RequestScope {
  transactions: number;
}

const requests = new AsyncLocalStorage<RunningRequest>();

/** Connections of all requests, and of one account. The last one of the pool is for statements within transactions. */
export const REQUEST_CONNECTIONS = { max: 8, shared: 7, perAccount: 5 };
/** A statement that ends by itself within this time is not cut off. */
const GRACE_MS = 200;

/** Does the work for a request: its statements count for its account. */
export function runInRequest<T>(scope: RequestScope, work: () => T): T {
  return requests.run({ ...scope, transactions: 0 }, work);
}

/** Does work that several requests wait for, so it must not end with one of them. */
export function runOutsideRequests<T>(work: () => T): T {
  return requests.exit(work);
}

export interface RequestPool extends PostgresPool {
  /** Requests that wait for a connection. */
  waiting(): number;
}

/**
 * Shares the connections of a pool fairly between accounts. `cut` ends a connection and its statement.
 */
export function shareConnections(pool: PostgresPool, cut: (client: PostgresPoolClient) => void): RequestPool {
  const slots = new Semaphore({
    limit: REQUEST_CONNECTIONS.shared,
    limitPerKey: REQUEST_CONNECTIONS.perAccount,
  });
  let waiting = 0;
  const acquire = async (request: RunningRequest | undefined) => {
    waiting += 1;
    try {
      return await slots.acquire({
        key: request?.account_id,
        ...(request?.signal && { signal: request.signal }),
      });
    } catch {
      throw clientLeft();
    } finally {
      waiting -= 1;
    }
  };
  return {
    async connect() {
      const request = requests.getStore();
      // A transaction that waited for a second connection could wait for itself.
      const slot = request && request.transactions > 0 ? undefined : await acquire(request);
      try {
        const client = await pool.connect();
        return new RequestClient(
          client,
          request,
          () => cut(client),
          () => slot?.release(),
        );
      } catch (error) {
        slot?.release();
        throw error;
      }
    },
    end: () => pool.end(),
    waiting: () => waiting,
  };
}

class RequestClient implements PostgresPoolClient {
  readonly #client: PostgresPoolClient;
  readonly #request: RunningRequest | undefined;
  readonly #cut: () => void;
  readonly #free: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Of no use to others: the cut may still be on its way when the statement has ended by itself. */
  #isCut = false;

  constructor(
    client: PostgresPoolClient,
    request: RunningRequest | undefined,
    cut: () => void,
    free: () => void,
  ) {
    this.#client = client;
    this.#request = request;
    this.#cut = cut;
    this.#free = free;
    if (request?.signal?.aborted) this.#cutSoon();
    request?.signal?.addEventListener("abort", this.#cutSoon, { once: true });
  }

  #cutSoon = (): void => {
    this.#timer = setTimeout(() => {
      this.#isCut = true;
      this.#cut();
    }, GRACE_MS);
  };

  query = (async (text: string, values: unknown[]) => {
    if (this.#request) {
      if (text === "begin") this.#request.transactions += 1;
      else if (text === "commit" || text === "rollback") this.#request.transactions -= 1;
    }
    try {
      return await (this.#client.query as (text: string, values: unknown[]) => Promise<unknown>)(
        text,
        values,
      );
    } catch (error) {
      throw this.#request?.signal?.aborted ? clientLeft() : error;
    }
  }) as unknown as PostgresPoolClient["query"];

  release(): void {
    clearTimeout(this.#timer);
    this.#request?.signal?.removeEventListener("abort", this.#cutSoon);
    (this.#client.release as (destroy: boolean) => void)(this.#isCut);
    this.#free();
  }
}

function clientLeft(): GatewayError {
  return new GatewayError("UNAVAILABLE", "The client has left, so the request was given up.");
}
