import type { SignalKeyStore } from "baileys";

/**
 * The client library tells a contact that it trusts him after a send, in the context of the send's transaction, which is
 * over by then: what it writes there is lost, and each send would tell it once more. So these writes go round it.
 */
export function persistTrustedTokens(keys: SignalKeyStore, store: SignalKeyStore): void {
  const { set } = keys;
  keys.set = async ({ tctoken, ...rest }) => {
    if (tctoken) await store.set({ tctoken });
    if (Object.keys(rest).length > 0) await set(rest);
  };
}
