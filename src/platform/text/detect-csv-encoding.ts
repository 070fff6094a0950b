import { createPause } from "../create-pause.ts";
import type { CsvEncoding } from "./read-csv-texts.ts";

const CHUNK_BYTES = 65_536;

/** UTF-8 or UTF-16; otherwise the encoding of Western spreadsheets. */
export async function detectCsvEncoding(bytes: Uint8Array): Promise<CsvEncoding> {
  const wide = detectUtf16(bytes);
  if (wide) return wide;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const pause = createPause();
  try {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      decoder.decode(bytes.subarray(at, at + CHUNK_BYTES), { stream: at + CHUNK_BYTES < bytes.length });
      await pause();
    }
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}

const SAMPLED_BYTES = 1_024;

/** By its mark, or by the zeros in every other byte of digits and Latin letters. */
function detectUtf16(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
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
