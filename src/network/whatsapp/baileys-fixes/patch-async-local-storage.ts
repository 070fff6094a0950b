import asyncHooks, { executionAsyncResource } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";

const Real = asyncHooks.AsyncLocalStorage;

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
 * Where each AsyncLocalStorage ever used is visited by every promise for ever, the client library's, one per socket, are
 * pooled: those made within `poolStorages`. All other callers get the real class.
 */
export function patchAsyncLocalStorage(isNeeded = burdensResources()): void {
  if (isInstalled || !isNeeded) return;
  isInstalled = true;
  const value = new Proxy(Real, {
    construct: (real, args, as) => (isPooling ? new PooledStorage() : Reflect.construct(real, args, as)),
  });
  // Not assigned: since Node 22 the property is a getter. A Node that refuses costs time and no session.
  Reflect.defineProperty(asyncHooks, "AsyncLocalStorage", { value, configurable: true, enumerable: true });
  syncBuiltinESMExports();
}

/**
 * Whether a storage writes into every resource that is made while it is in use, as before Node 24 and wherever
 * AsyncContextFrame is switched off.
 */
function burdensResources(): boolean {
  const probe = new Real<true>();
  const symbols = () => Object.getOwnPropertySymbols(executionAsyncResource()).length;
  const before = symbols();
  const during = probe.run(true, symbols);
  probe.disable();
  return during > before;
}

/** Only what `work` makes before it returns is pooled. */
export function withPooledStorages<R>(work: () => R): R {
  isPooling = true;
  try {
    return work();
  } finally {
    isPooling = false;
  }
}
