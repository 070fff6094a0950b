// libsignal 6.0.0 tries a message on each session with a device, and also advances and stores those that do not fit.
// Not reported upstream; the symptom, "Bad MAC", is collected in https://github.com/WhiskeySockets/Baileys/issues/1769 (open).
import type { SignalKeyStore } from "baileys";

/** The Signal sessions with one device, in libsignal's format: the open one and those that it replaced. */
interface Conversations {
  _sessions: Record<string, { indexInfo: { used: number } }>;
}

/** Restores all sessions except the one that fits; otherwise their next message could not be decrypted. */
export async function decryptWithRollback<T>(
  keys: SignalKeyStore,
  address: string,
  decrypt: () => Promise<T>,
): Promise<T> {
  const before = await read(keys, address);
  if (!before) return decrypt();
  const startedAt = Date.now();
  // libsignal marks the session that fits with the current time, so all others need an earlier one.
  for (const { indexInfo } of Object.values(before._sessions)) {
    indexInfo.used = Math.min(indexInfo.used, startedAt - 1);
  }
  const result = await decrypt();
  const after = await read(keys, address);
  if (after && putBack(before, after)) {
    await keys.set({ session: { [address]: after as unknown as Uint8Array } });
  }
  return result;
}

async function read(keys: SignalKeyStore, address: string): Promise<Conversations | undefined> {
  const { [address]: found } = await keys.get("session", [address]);
  return found as unknown as Conversations | undefined;
}

function putBack(before: Conversations, after: Conversations): boolean {
  const others = Object.entries(before._sessions).filter(
    ([key, one]) =>
      after._sessions[key] !== undefined && after._sessions[key].indexInfo.used === one.indexInfo.used,
  );
  for (const [key, one] of others) after._sessions[key] = one;
  return others.length > 0;
}
