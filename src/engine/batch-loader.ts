import { type BatchLimits, BatchQueue } from "./batch-queue.ts";

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
