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
