import { createPause } from "../create-pause.ts";
import { type CsvEncoding, countSequences } from "./csv-decoder.ts";
import { detectUtf16 } from "./decode-text.ts";

const CHUNK_BYTES = 65_536;

/** UTF-8, also with a few other bytes, or UTF-16; otherwise the encoding of Western spreadsheets. */
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
    return (await isMostlyUtf8(bytes)) ? "utf-8" : "windows-1252";
  }
}

async function isMostlyUtf8(bytes: Uint8Array): Promise<boolean> {
  const pause = createPause();
  let lead = 0;
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const { whole, single } = countSequences(bytes.subarray(at, at + CHUNK_BYTES));
    lead += whole - single;
    await pause();
  }
  return lead > 0;
}
