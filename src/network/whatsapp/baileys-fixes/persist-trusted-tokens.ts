import type { SignalKeyStore } from "baileys";

/**
 * Baileys stores the trusted-contact token after the send's transaction has ended, so the write is lost and
 * every send issues the token again. Writes it straight to the store.
 */
export function persistTrustedTokens(keys: SignalKeyStore, store: SignalKeyStore): void {
  const { set } = keys;
  keys.set = async ({ tctoken, ...rest }) => {
    if (tctoken) await store.set({ tctoken });
    if (Object.keys(rest).length > 0) await set(rest);
  };
}
