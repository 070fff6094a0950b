interface RawField {
  number: number;
  /** A number of the wire type varint, or the bytes of a length-delimited value; undefined for other types. */
  value: number | Uint8Array | undefined;
}

const VARINT = 0;
const BYTES = 2;
/** Bytes of the wire types of fixed length. */
const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/**
 * The fields of an encoded protobuf message, for what Baileys' schema does not know. Ends before a field that is cut
 * off, or a group.
 */
export function* rawFieldsOf(message: Uint8Array): Generator<RawField> {
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
    const first = type === VARINT || type === BYTES ? varint() : undefined;
    const length = type === VARINT ? 0 : (first ?? FIXED[type]);
    if (Number.isNaN(first) || length === undefined || !(at + length <= message.length)) return;
    const value = type === BYTES ? message.subarray(at, at + length) : first;
    at += length;
    yield { number: Math.floor(tag / 8), value };
  }
}

/** The last value of a length-delimited field; undefined if the field is absent. */
export function rawFieldOf(message: Uint8Array, number: number): Uint8Array | undefined {
  let found: Uint8Array | undefined;
  for (const field of rawFieldsOf(message)) {
    if (field.number === number && field.value instanceof Uint8Array) found = field.value;
  }
  return found;
}
