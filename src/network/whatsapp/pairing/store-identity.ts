import { setTimeout as pause } from "node:timers/promises";
import type { CredentialStore } from "../../driver.ts";

export interface StoreIdentityOptions {
  store: Pick<CredentialStore, "load" | "save">;
  /** Whether a failure of the store is temporary. */
  isTransientError(error: unknown): boolean;
  /** Delay before a failed call is retried. */
  retryMs: number;
  /** Stops the writes: without its connection the pairing cannot complete. */
  isClosed(): boolean;
  /** Stops all work. */
  signal: AbortSignal;
  onFailure(error: unknown): void;
}

/** Resolves with whether the store holds the identity; retries temporary failures without a limit. */
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
  // The commit may have succeeded without a response. Never saves after this read: the store may hold another
  // pairing.
  return isSaved ?? (await attempt(() => holds(store, identity), options)) ?? false;
}

/** Undefined if the work was abandoned. */
async function attempt<T>(
  work: () => Promise<T>,
  { isTransientError, retryMs, signal, onFailure }: StoreIdentityOptions,
  isOver: () => boolean = () => false,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      if (!isTransientError(error) || isOver()) return undefined;
      await pause(retryMs, undefined, { signal }).catch(() => {});
    }
  }
  return undefined;
}

async function holds(store: Pick<CredentialStore, "load">, identity: Uint8Array): Promise<boolean> {
  const stored = await store.load();
  return stored !== undefined && Buffer.from(identity).equals(stored);
}
