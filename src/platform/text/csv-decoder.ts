import { replaceHighControls } from "./decode-text.ts";

export type CsvEncoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

/** Decodes the next bytes of a file. */
type DecodePiece = (piece: Uint8Array, isLast: boolean) => string;

/** A sequence of UTF-8, or a byte that belongs to none; each byte as the character with its number. */
const SEQUENCES =
  /[\u00c2-\u00df][\u0080-\u00bf]|[\u00e0-\u00ef][\u0080-\u00bf]{2}|[\u00f0-\u00f4][\u0080-\u00bf]{3}|[\u0080-\u00ff]/g;

/** In UTF-8, bytes that belong to no sequence are of Windows-1252: two programs may have written the file. */
export function createCsvDecoder(encoding: CsvEncoding): DecodePiece {
  if (encoding === "utf-8") return createMixedDecoder();
  const decoder = new TextDecoder(encoding);
  return (piece, isLast) => {
    const text = decoder.decode(piece, { stream: !isLast });
    return encoding === "windows-1252" ? replaceHighControls(text) : text;
  };
}

function createMixedDecoder(): DecodePiece {
  let rest = new Uint8Array();
  let isBegun = false;
  return (piece, isLast) => {
    const bytes = new Uint8Array(rest.length + piece.length);
    bytes.set(rest);
    bytes.set(piece, rest.length);
    const end = isLast ? bytes.length : endOfLastSequence(bytes);
    rest = bytes.slice(end);
    const text = decodeMixed(bytes.subarray(0, end));
    const isMarked = !isBegun && text.startsWith("\ufeff");
    isBegun ||= text !== "";
    return isMarked ? text.slice(1) : text;
  };
}

/** Where the bytes end without a sequence that goes on in the next piece. */
function endOfLastSequence(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function decodeMixed(bytes: Uint8Array): string {
  const all = decodeStrictly(bytes);
  return (
    all ??
    toCharacters(bytes).replace(SEQUENCES, (found) => decodeSequence(found) ?? replaceHighControls(found))
  );
}

function decodeSequence(found: string): string | undefined {
  return found.length > 1 ? decodeStrictly(Uint8Array.from(found, (sign) => sign.charCodeAt(0))) : undefined;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

function toCharacters(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

/** The sequences of UTF-8, and the bytes that belong to none. */
export function countSequences(bytes: Uint8Array): { whole: number; single: number } {
  const count = { whole: 0, single: 0 };
  for (const [found] of toCharacters(bytes).matchAll(SEQUENCES))
    count[found.length > 1 ? "whole" : "single"] += 1;
  return count;
}
