import asyncHooks from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";

const Real = asyncHooks.AsyncLocalStorage;
/** From this version on a storage costs nothing once it is forgotten. */
const MENDED_IN = 24;

const shared = new Real<ReadonlyMap<object, unknown>>();

/** As much of an AsyncLocalStorage as the client library uses; all of them live in one real one. */
class PooledStorage<T> {
  run<R>(store: T, work: () => R): R {
    return shared.run(new Map(shared.getStore()).set(this, store), work);
  }

  getStore(): T | undefined {
    return shared.getStore()?.get(this) as T | undefined;
  }
}

let isPooling = false;
let isInstalled = false;

/**
 * Before Node 24 each AsyncLocalStorage ever made is visited by every promise for ever, and the client library makes one
 * per socket. What is made within `poolStorages` is pooled instead; everybody else gets the real thing.
 */
export function installPooledStorage(major = Number.parseInt(process.versions.node, 10)): void {
  if (isInstalled || major >= MENDED_IN) return;
  isInstalled = true;
  asyncHooks.AsyncLocalStorage = new Proxy(Real, {
    construct: (real, args, as) => (isPooling ? new PooledStorage() : Reflect.construct(real, args, as)),
  });
  syncBuiltinESMExports();
}

/** Only what `work` makes before it returns is pooled. */
export function poolStorages<R>(work: () => R): R {
  isPooling = true;
  try {
    return work();
  } finally {
    isPooling = false;
  }
}
