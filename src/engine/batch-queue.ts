import { setImmediate as nextTurn } from "node:timers/promises";
import { isDatabaseUnavailable } from "../platform/db/database.ts";
import { runOutsideRequests } from "../platform/db/request-pool.ts";
import { GatewayError } from "../platform/gateway-error.ts";
import { Semaphore } from "../platform/limits/semaphore.ts";

/** How long after its last failure a group runs apart from the others. */
const APART_MS = 10_000;
/** Most groups that run apart at the same time; each needs a connection. */
const MOST_APART = 4;
/** Most bulk items per batch. */
const MOST_BULK = 20;

interface BatchLimits {
  /** Most items per statement; 100 by default. */
  maxBatch?: number;
  /** Rejects further items with UNAVAILABLE once this many wait. Only needed where the input is unbounded. */
  maxWaiting?: number;
}

interface BatchComposition<Item> extends BatchLimits {
  /**
   * Items of one group keep their order; a group whose batch failed does not delay the others. Without groups, the
   * items of a failed batch run one by one before the next batch.
   */
  groupOf?(item: Item): number;
  /** Items that arrive in masses: at most 20 share a batch, and the items behind the rest of them go first. */
  isBulk?(item: Item): boolean;
}

interface BatchWriterOptions<Item, Result> extends BatchComposition<Item> {
  /** Writes all items in one statement and returns one result per item, in the same order. */
  write(items: Item[]): Promise<Result[]>;
}

export interface BatchWriter<Item, Result> {
  /** Resolves when the item is committed; rejects with the error of this item alone. */
  write(item: Item): Promise<Result>;
}

/** Merges concurrent writes into batches, in the order of their arrival. */
export function createBatchWriter<Item, Result>({
  write,
  ...limits
}: BatchWriterOptions<Item, Result>): BatchWriter<Item, Result> {
  const queue = new BatchQueue({ run: write, ...limits });
  return { write: (item) => queue.add(item) };
}

export interface BatchLoaderOptions<Key, Value> extends BatchLimits {
  /** Reads the values of all keys in one statement and returns them in the order of the keys. */
  load(keys: Key[]): Promise<Value[]>;
}

export interface BatchLoader<Key, Value> {
  /** Reads again at each call; rejects with the error of this key alone. */
  load(key: Key): Promise<Value>;
}

/** Merges concurrent reads into batches, in the order of their arrival. */
export function createBatchLoader<Key, Value>({
  load,
  ...limits
}: BatchLoaderOptions<Key, Value>): BatchLoader<Key, Value> {
  const queue = new BatchQueue({ run: load, ...limits });
  return { load: (key) => queue.add(key) };
}

interface BatchQueueOptions<Item, Result> extends BatchComposition<Item> {
  /** Runs one statement for all items and returns one result per item, in the same order. */
  run(items: Item[]): Promise<Result[]>;
}

interface QueuedItem<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A group that runs apart after a failure. */
interface GroupApart<Item, Result> {
  queue: BatchQueue<Item, Result>;
  /** On the monotonic clock. */
  failedAtMs: number;
}

/**
 * Merges concurrent items into batches and runs one batch at a time, in the order of arrival. A faulty item
 * fails alone. With groups, each group of a failed batch gets a queue of its own until 10 s after its last
 * failure, so that a locked row delays only its own group.
 */
export class BatchQueue<Item, Result> {
  readonly #options: BatchQueueOptions<Item, Result>;
  readonly #maxBatch: number;
  readonly #apart = new Map<number, GroupApart<Item, Result>>();
  readonly #connections = new Semaphore({ limit: MOST_APART });
  #waiting: QueuedItem<Item, Result>[] = [];
  #isRunning = false;

  constructor(options: BatchQueueOptions<Item, Result>) {
    this.#options = options;
    this.#maxBatch = options.maxBatch ?? 100;
  }

  /** Resolves with the result of this item; rejects with the error of this item alone. */
  add(item: Item): Promise<Result> {
    const { maxWaiting = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#waiting.length >= maxWaiting) return Promise.reject(tooMuch());
    const apart = this.#findApart(item);
    if (apart) return apart.queue.add(item);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      // The items of others must not end with the request of the first one.
      if (!this.#isRunning) void runOutsideRequests(() => this.#drain());
    });
  }

  /** Returns a group to the shared batches when its own queue is empty and its failure is long ago. */
  #findApart(item: Item): GroupApart<Item, Result> | undefined {
    const group = this.#options.groupOf?.(item);
    const apart = group === undefined ? undefined : this.#apart.get(group);
    if (group === undefined || !apart) return undefined;
    if (apart.queue.#isRunning || performance.now() - apart.failedAtMs < APART_MS) return apart;
    this.#apart.delete(group);
    return undefined;
  }

  async #drain(): Promise<void> {
    this.#isRunning = true;
    // Items that arrive in the same turn of the event loop share the first batch.
    await nextTurn();
    while (this.#waiting.length > 0) await this.#runBatch(this.#takeBatch());
    this.#isRunning = false;
  }

  #takeBatch(): QueuedItem<Item, Result>[] {
    const { isBulk } = this.#options;
    if (!isBulk) return this.#waiting.splice(0, this.#maxBatch);
    const batch: QueuedItem<Item, Result>[] = [];
    const left: QueuedItem<Item, Result>[] = [];
    let bulk = 0;
    for (const queued of this.#waiting) {
      const isLeft = batch.length === this.#maxBatch || (isBulk(queued.item) && ++bulk > MOST_BULK);
      (isLeft ? left : batch).push(queued);
    }
    this.#waiting = left;
    return batch;
  }

  async #runBatch(batch: QueuedItem<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map((waiting) => waiting.item));
      for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
    } catch (error) {
      if (isDatabaseUnavailable(error)) return rejectAll(batch, error);
      if (this.#options.groupOf) return this.#setApart(batch, error, this.#options.groupOf);
      if (batch.length === 1) return rejectAll(batch, error);
      await this.#runOneByOne(batch);
    }
  }

  /** Moves the groups of a failed batch, with what waits behind it, into queues of their own. */
  #setApart(batch: QueuedItem<Item, Result>[], error: unknown, groupOf: (item: Item) => number): void {
    for (const group of new Set(batch.map(({ item }) => groupOf(item))))
      this.#apart.set(group, this.#createGroupApart());
    const isAlone = batch.length === 1;
    if (isAlone) rejectAll(batch, error);
    const behind = this.#waiting;
    this.#waiting = [];
    for (const queued of isAlone ? behind : [...batch, ...behind]) {
      const apart = this.#apart.get(groupOf(queued.item));
      if (apart) apart.queue.add(queued.item).then(queued.resolve, queued.reject);
      else this.#waiting.push(queued);
    }
  }

  #createGroupApart(): GroupApart<Item, Result> {
    const apart: GroupApart<Item, Result> = {
      failedAtMs: performance.now(),
      queue: new BatchQueue({
        maxBatch: this.#maxBatch,
        isBulk: this.#options.isBulk,
        run: async (items) => {
          try {
            return await this.#connections.use(() => this.#options.run(items));
          } catch (error) {
            apart.failedAtMs = performance.now();
            throw error;
          }
        },
      }),
    };
    return apart;
  }

  async #runOneByOne(batch: QueuedItem<Item, Result>[]): Promise<void> {
    for (const [index, waiting] of batch.entries()) {
      try {
        const [result] = await this.#run([waiting.item]);
        waiting.resolve(result as Result);
      } catch (error) {
        if (isDatabaseUnavailable(error)) return rejectAll(batch.slice(index), error);
        waiting.reject(error);
      }
    }
  }

  async #run(items: Item[]): Promise<Result[]> {
    const results = await this.#options.run(items);
    if (results.length !== items.length) {
      throw new Error(`a batch of ${items.length} items returned ${results.length} results`);
    }
    return results;
  }
}

function tooMuch(): GatewayError {
  const sentence = "Too many writes are waiting. Try again in a moment.";
  return new GatewayError("UNAVAILABLE", sentence, { retryAfterSeconds: 2 });
}

function rejectAll<Item, Result>(batch: QueuedItem<Item, Result>[], error: unknown): void {
  for (const waiting of batch) waiting.reject(error);
}
