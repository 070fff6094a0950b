import { type BatchLimits, BatchQueue } from "./batch-queue.ts";

export interface BatchWriterOptions<Item, Result> extends BatchLimits {
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
