// Baileys 7.0.0-rc14 writes the keys of skipped group messages as plain objects that it cannot read back.
// Upstream: https://github.com/WhiskeySockets/Baileys/pull/1760 repaired the chain keys only.
import { BufferJSON } from "baileys";

/** Rewrites a stored sender key; otherwise every message that another one overtook would be lost. */
export function repairSkippedKeys(senderKey: Buffer): Buffer {
  return Buffer.from(JSON.stringify(JSON.parse(senderKey.toString()), BufferJSON.replacer));
}
