import { setImmediate as nextTurn } from "node:timers/promises";
import { isDatabaseUnavailable } from "../platform/db/database.ts";
import { GatewayError } from "../platform/gateway-error.ts";

interface BatchLimits {
  /** Most items per statement; 100 by default. */
  maxBatch?: number;
  /** Rejects further items with UNAVAILABLE once this many wait. Only needed where the input is unbounded. */
  maxWaiting?: number;
}

interface BatchWriterOptions<Item, Result> extends BatchLimits {
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

interface BatchQueueOptions<Item, Result> extends BatchLimits {
  /** Runs one statement for all items and returns one result per item, in the same order. */
  run(items: Item[]): Promise<Result[]>;
}

interface QueuedItem<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Merges concurrent items into batches and runs one batch at a time, in the order of arrival. A faulty item fails alone. */
export class BatchQueue<Item, Result> {
  readonly #options: BatchQueueOptions<Item, Result>;
  readonly #maxBatch: number;
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
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#isRunning) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#isRunning = true;
    // Items that arrive in the same turn of the event loop share the first batch.
    await nextTurn();
    while (this.#waiting.length > 0) await this.#runBatch(this.#waiting.splice(0, this.#maxBatch));
    this.#isRunning = false;
  }

  async #runBatch(batch: QueuedItem<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map((waiting) => waiting.item));
      for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || isDatabaseUnavailable(error)) return rejectAll(batch, error);
      await this.#runOneByOne(batch);
    }
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
