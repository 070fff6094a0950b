/** Windows-1252 includes ISO-8859-1; its characters from 80 to 9F, which some versions of Node leave as they are. */
const HIGH_CONTROLS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/**
 * Text of a sender who may be old: in the declared charset if it is known and fits, else in UTF-8, else in ISO-8859-1.
 * `isCut`: the last character may be incomplete.
 */
export function decodeText(bytes: Uint8Array, charset?: string, isCut = false): string {
  return (
    (charset === undefined ? undefined : decodeAs(charset, bytes, isCut)) ??
    decodeAs("utf-8", bytes, isCut) ??
    fromWindows1252(bytes)
  );
}

/** The text that a file begins with; undefined for one whose bytes are no text. */
export function decodeStart(head: Uint8Array): string | undefined {
  const wide = decodeUtf16(head);
  if (wide !== undefined || head.includes(0)) return wide;
  const isAscii = (head[0] ?? 0) < 0x80;
  const text = decodeAs("utf-8", head, true) ?? (isAscii ? fromWindows1252(head) : undefined);
  return text === undefined || CONTROL.test(text) ? undefined : text;
}

const CONTROL = /(?!\s)\p{Cc}/u;

/** Undefined for bytes that are no text in UTF-16. The last character may be incomplete. */
export function decodeUtf16(bytes: Uint8Array): string | undefined {
  const charset = detectUtf16(bytes);
  const text = charset && decodeAs(charset, bytes, true);
  return text === undefined || CONTROL.test(text) ? undefined : text;
}

const SAMPLED_BYTES = 1_024;

/** By its mark, or by the zeros in every other byte of digits and Latin letters. */
export function detectUtf16(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const zeros: [number, number] = [0, 0];
  const sample = bytes.subarray(0, SAMPLED_BYTES);
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2 === 0 ? 0 : 1] += 1;
  const [even, odd] = zeros;
  if (Math.max(even, odd) <= sample.length / 4 || Math.min(even, odd) > 0) return undefined;
  return odd > even ? "utf-16le" : "utf-16be";
}

/** Undefined for a charset that is unknown, or that the bytes are not in. */
function decodeAs(charset: string, bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    const decoder = new TextDecoder(charset.trim(), { fatal: true });
    return decoder.encoding === "windows-1252"
      ? fromWindows1252(bytes)
      : decoder.decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}

function fromWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return replaceHighControls(text);
}

/** The text of a decoder of Windows-1252 on every version of Node. */
export function replaceHighControls(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (control) => HIGH_CONTROLS.charAt(control.charCodeAt(0) - 0x80));
}
