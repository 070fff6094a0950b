// Everything that Baileys imports of `whatsapp-rust-bridge`; `overrides` in the package.json of Waygate puts this module in
// its place. JavaScript, because Baileys is loaded from node_modules, where Node compiles no TypeScript.
import { createHash, hkdfSync } from "node:crypto";

const NOTHING = new Uint8Array(0);
/** In bytes. */
const LT_HASH_SIZE = 128;
const KEY_SIZE = 32;

export function md5(bytes) {
  return new Uint8Array(createHash("md5").update(bytes).digest());
}

/** HKDF-SHA256 (RFC 5869); the info counts in UTF-8. */
export function hkdf(key, length, { salt, info }) {
  return new Uint8Array(hkdfSync("sha256", key, salt ?? NOTHING, info ?? "", length));
}

/** The keys of one app state key. */
export function expandAppStateKeys(key) {
  const expanded = hkdf(key, 5 * KEY_SIZE, { info: "WhatsApp Mutation Keys" });
  const [indexKey, valueEncryptionKey, valueMacKey, snapshotMacKey, patchMacKey] = [0, 1, 2, 3, 4].map((at) =>
    expanded.slice(at * KEY_SIZE, (at + 1) * KEY_SIZE),
  );
  return { indexKey, valueEncryptionKey, valueMacKey, snapshotMacKey, patchMacKey };
}

/**
 * The hash of a collection of the app state: the sum of its entries, so that their order does not count and each can be
 * taken out again. An entry is expanded to 128 bytes, and added as 64 little-endian numbers of 16 bits that overflow.
 */
export class LTHashAntiTampering {
  /** The hash without the entries of `removed` and with those of `added`; both are MACs of values. */
  subtractThenAdd(hash, removed, added) {
    if (hash.length !== LT_HASH_SIZE) throw new RangeError(`A hash of ${hash.length} bytes is no LT hash.`);
    const sum = new DataView(Uint8Array.from(hash).buffer);
    for (const mac of removed) mix(sum, mac, -1);
    for (const mac of added) mix(sum, mac, 1);
    return new Uint8Array(sum.buffer);
  }
}

function mix(sum, mac, sign) {
  const entry = new DataView(hkdf(mac, LT_HASH_SIZE, { info: "WhatsApp Patch Integrity" }).buffer);
  for (let at = 0; at < LT_HASH_SIZE; at += 2)
    sum.setUint16(at, sum.getUint16(at, true) + sign * entry.getUint16(at, true), true);
}
