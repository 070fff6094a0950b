// Baileys 7.0.0-rc14 stores the trusted-contact token after the send's transaction has ended, so the write is lost.
// Not reported upstream; it came with https://github.com/WhiskeySockets/Baileys/pull/2339.
import type { SignalKeyStore } from "baileys";

/** Writes the token straight to the store; otherwise every send would issue it again. */
export function persistTrustedTokens(keys: SignalKeyStore, store: SignalKeyStore): void {
  const { set } = keys;
  keys.set = async ({ tctoken, ...rest }) => {
    if (tctoken) await store.set({ tctoken });
    if (Object.keys(rest).length > 0) await set(rest);
  };
}
