const BYTES = 2;
/** Bytes after the tag of each other wire type; a varint ends by itself. */
const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/**
 * The last value of a length-delimited field in an encoded protobuf message, for fields that Baileys' schema does not
 * know. Undefined if the field is absent or the message is cut off.
 */
export function rawFieldOf(message: Uint8Array, field: number): Uint8Array | undefined {
  let found: Uint8Array | undefined;
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; at < message.length; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
    return Number.NaN;
  };
  while (at < message.length) {
    const tag = varint();
    const type = tag % 8;
    const length = type === BYTES ? varint() : type === 0 ? varint() * 0 : FIXED[type];
    // A group or an impossible length: nothing behind it can be read.
    if (length === undefined || !(at + length <= message.length)) return undefined;
    if (type === BYTES && Math.floor(tag / 8) === field) found = message.subarray(at, at + length);
    at += length;
  }
  return found;
}
