// Baileys 7.0.0-rc14 creates an AsyncLocalStorage per socket; before Node 24 every promise visits each one ever used.
// Upstream: https://github.com/WhiskeySockets/Baileys/issues/2806 (open).
import asyncHooks, { executionAsyncResource } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";

const Real = asyncHooks.AsyncLocalStorage;

const shared = new Real<ReadonlyMap<object, unknown>>();

/** The part of AsyncLocalStorage that Baileys uses; all instances share one real storage. */
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

/** Pools the storages that are created within `withPooledStorages`; other callers get the real class. */
export function patchAsyncLocalStorage(isNeeded = burdensResources()): void {
  if (isInstalled || !isNeeded) return;
  isInstalled = true;
  const value = new Proxy(Real, {
    construct: (real, args, as) => (isPooling ? new PooledStorage() : Reflect.construct(real, args, as)),
  });
  // No assignment: the property is a getter since Node 22. If Node refuses the change, sessions still work,
  // but slower.
  Reflect.defineProperty(asyncHooks, "AsyncLocalStorage", { value, configurable: true, enumerable: true });
  syncBuiltinESMExports();
}

/** Whether a used storage adds work to every async resource: before Node 24, and without AsyncContextFrame. */
function burdensResources(): boolean {
  const probe = new Real<true>();
  const symbols = () => Object.getOwnPropertySymbols(executionAsyncResource()).length;
  const before = symbols();
  const during = probe.run(true, symbols);
  probe.disable();
  return during > before;
}

/** Pools only the storages that `work` creates before it returns. */
export function withPooledStorages<R>(work: () => R): R {
  isPooling = true;
  try {
    return work();
  } finally {
    isPooling = false;
  }
}
