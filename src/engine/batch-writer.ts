import { setImmediate as nextTurn } from "node:timers/promises";
import { isDatabaseUnavailable } from "../platform/db/database.ts";
import { GatewayError } from "../platform/gateway-error.ts";

export interface BatchWriterOptions<Item, Result> {
  /** Writes all items in one statement and returns one result per item, in the same order. */
  write(items: Item[]): Promise<Result[]>;
  /** Most items per statement; 100 by default. */
  maxBatch?: number;
  /** Rejects further items with UNAVAILABLE once this many wait. Only needed where the input is unbounded. */
  maxWaiting?: number;
  /** Whether one item may have caused this error. By default: any error except an unavailable database. */
  retryOneByOne?(error: unknown): boolean;
}

/** Merges concurrent writes into batches, in the order of their arrival. */
export interface BatchWriter<Item, Result> {
  /** Resolves when the item is committed; rejects with the error of this item alone. */
  write(item: Item): Promise<Result>;
  /** Resolves when nothing is waiting and nothing is in flight. */
  whenIdle(): Promise<void>;
}

interface QueuedItem<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Runs one batch at a time. If a batch fails, runs its items one by one, so that only the faulty item fails.
 */
export function createBatchWriter<Item, Result>(
  options: BatchWriterOptions<Item, Result>,
): BatchWriter<Item, Result> {
  return new QueuedBatchWriter(options);
}

class QueuedBatchWriter<Item, Result> implements BatchWriter<Item, Result> {
  readonly #options: BatchWriterOptions<Item, Result>;
  readonly #maxBatch: number;
  #waiting: QueuedItem<Item, Result>[] = [];
  #running: Promise<void> | undefined;

  constructor(options: BatchWriterOptions<Item, Result>) {
    this.#options = options;
    this.#maxBatch = options.maxBatch ?? 100;
  }

  write(item: Item): Promise<Result> {
    const { maxWaiting = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#waiting.length >= maxWaiting) return Promise.reject(tooMuch());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#running ??= this.#drain();
    });
  }

  async whenIdle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #drain(): Promise<void> {
    // Items that arrive in the same turn of the event loop share the first batch.
    await nextTurn();
    while (this.#waiting.length > 0) await this.#writeBatch(this.#waiting.splice(0, this.#maxBatch));
    this.#running = undefined;
  }

  async #writeBatch(batch: QueuedItem<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#write(batch.map((waiting) => waiting.item));
      for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || !this.#mayIsolate(error)) return rejectAll(batch, error);
      await this.#writeOneByOne(batch);
    }
  }

  async #writeOneByOne(batch: QueuedItem<Item, Result>[]): Promise<void> {
    for (const [index, waiting] of batch.entries()) {
      try {
        const [result] = await this.#write([waiting.item]);
        waiting.resolve(result as Result);
      } catch (error) {
        if (!this.#mayIsolate(error)) return rejectAll(batch.slice(index), error);
        waiting.reject(error);
      }
    }
  }

  async #write(items: Item[]): Promise<Result[]> {
    const results = await this.#options.write(items);
    if (results.length !== items.length) {
      throw new Error(`a batch of ${items.length} items returned ${results.length} results`);
    }
    return results;
  }

  #mayIsolate(error: unknown): boolean {
    return this.#options.retryOneByOne ? this.#options.retryOneByOne(error) : !isDatabaseUnavailable(error);
  }
}

function tooMuch(): GatewayError {
  const sentence = "Too many writes are waiting. Try again in a moment.";
  return new GatewayError("UNAVAILABLE", sentence, { retryAfterSeconds: 2 });
}

function rejectAll<Item, Result>(batch: QueuedItem<Item, Result>[], error: unknown): void {
  for (const waiting of batch) waiting.reject(error);
}
