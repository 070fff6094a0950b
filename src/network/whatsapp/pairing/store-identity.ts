import { setTimeout as pause } from "node:timers/promises";
import type { CredentialStore } from "../../driver.ts";

export interface StoreIdentityOptions {
  store: Pick<CredentialStore, "load" | "save">;
  /** Whether a failure of the store passes by itself. */
  mayPass(error: unknown): boolean;
  /** Before a call that failed is tried again. */
  retryMs: number;
  /** Ends the writes: without its connection the pairing cannot be completed. */
  isClosed(): boolean;
  /** Ends everything. */
  signal: AbortSignal;
  onFailure(error: unknown): void;
}

/** Resolves with whether the store holds the identity, however often that takes while its failures pass. */
export async function storeIdentity(identity: Uint8Array, options: StoreIdentityOptions): Promise<boolean> {
  const { store, isClosed } = options;
  const isSaved = await attempt(
    async () => {
      await store.save(identity);
      return true;
    },
    options,
    isClosed,
  );
  // A commit whose answer was lost has succeeded. Nothing is saved after this read: the store may hold another pairing.
  return isSaved ?? (await attempt(() => holds(store, identity), options)) ?? false;
}

/** Undefined when it was given up. */
async function attempt<T>(
  work: () => Promise<T>,
  { mayPass, retryMs, signal, onFailure }: StoreIdentityOptions,
  isOver: () => boolean = () => false,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      if (!mayPass(error) || isOver()) return undefined;
      await pause(retryMs, undefined, { signal }).catch(() => {});
    }
  }
  return undefined;
}

async function holds(store: Pick<CredentialStore, "load">, identity: Uint8Array): Promise<boolean> {
  const stored = await store.load();
  return stored !== undefined && Buffer.from(identity).equals(stored);
}
