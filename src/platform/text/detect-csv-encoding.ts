import { createPause } from "../create-pause.ts";
import { detectUtf16 } from "./decode-text.ts";
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
