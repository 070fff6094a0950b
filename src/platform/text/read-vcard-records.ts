import { createPause } from "../create-pause.ts";
import { cleanText } from "./clean-text.ts";
import { type CsvEncoding, createCsvDecoder } from "./csv-decoder.ts";
import { readVcard } from "./read-vcard.ts";

const CARD = /^BEGIN:VCARD[ \t]*$/gim;
const MOST_CHARACTERS = 65_536;
const CHUNK_BYTES = 65_536;
const LINE_BREAK = /\r\n|\n|\r/g;

/** A person of a file of vCards. */
export interface VcardRecord {
  /** Line of the card, from 1. */
  line: number;
  /** The phone, that of WhatsApp or a mobile if there is one, and the name. */
  cells: [phone: string, name: string];
}

/** Whether a file has the contacts of an address book as vCards. */
export function isVcardFile(bytes: Uint8Array): boolean {
  return /^\W{0,8}BEGIN:VCARD/i.test(new TextDecoder("windows-1252").decode(bytes.subarray(0, 64)));
}

/** The cards of a file. Other work runs between them. */
export async function* readVcardRecords(
  bytes: Uint8Array,
  encoding: CsvEncoding,
): AsyncGenerator<VcardRecord> {
  const pause = createPause();
  const text = await decodeWhole(bytes, encoding, pause);
  let line = 1;
  let counted = 0;
  let index = nextCard(text, 0);
  while (index >= 0) {
    line += text.slice(counted, index).match(LINE_BREAK)?.length ?? 0;
    counted = index;
    const next = nextCard(text, index + 1);
    // No further than the next card: a file may have a million of them.
    const end = Math.min(next < 0 ? text.length : next, index + MOST_CHARACTERS);
    const { name = "", phones } = readVcard(cleanText(text.slice(index, end)));
    index = next;
    const best = phones.find(({ waid }) => waid) ?? phones.find(({ isMobile }) => isMobile) ?? phones[0];
    yield { line, cells: [best?.waid === undefined ? (best?.number ?? "") : `+${best.waid}`, name] };
    await pause();
  }
}

async function decodeWhole(
  bytes: Uint8Array,
  encoding: CsvEncoding,
  pause: ReturnType<typeof createPause>,
): Promise<string> {
  const decode = createCsvDecoder(encoding);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    text += decode(bytes.subarray(at, at + CHUNK_BYTES), at + CHUNK_BYTES >= bytes.length);
    await pause();
  }
  return text;
}

/** Where the next card begins; -1 behind the last one. */
function nextCard(text: string, from: number): number {
  CARD.lastIndex = from;
  return CARD.exec(text)?.index ?? -1;
}
