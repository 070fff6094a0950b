import { createPause } from "../create-pause.ts";
import { cleanText } from "./clean-text.ts";
import { type CsvEncoding, createCsvDecoder } from "./csv-decoder.ts";
import { readVcard } from "./read-vcard.ts";

const CARD = /BEGIN:VCARD[ \t]{0,100}$/imy;
const MOST_CHARACTERS = 65_536;
const CHUNK_BYTES = 65_536;
const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

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

/** The cards of a file. Other work runs between them, and while their beginnings are searched. */
export async function* readVcardRecords(
  bytes: Uint8Array,
  encoding: CsvEncoding,
): AsyncGenerator<VcardRecord> {
  const text = await decodeWhole(bytes, encoding);
  let card: CardPlace | undefined;
  for await (const next of findCards(text)) {
    if (card) yield readCard(text, card, next.index);
    card = next;
  }
  if (card) yield readCard(text, card, text.length);
}

async function decodeWhole(bytes: Uint8Array, encoding: CsvEncoding): Promise<string> {
  const pause = createPause();
  const decode = createCsvDecoder(encoding);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    text += decode(bytes.subarray(at, at + CHUNK_BYTES), at + CHUNK_BYTES >= bytes.length);
    await pause();
  }
  return text;
}

interface CardPlace {
  line: number;
  index: number;
}

function readCard(text: string, { line, index }: CardPlace, next: number): VcardRecord {
  // No further than the next card: a file may have a million of them.
  const end = Math.min(next, index + MOST_CHARACTERS);
  const { name = "", phones: all } = readVcard(cleanText(text.slice(index, end)));
  const phones = all.filter(({ isFax, waid }) => !isFax || waid);
  const best = phones.find(({ waid }) => waid) ?? phones.find(({ isMobile }) => isMobile) ?? phones[0];
  return { line, cells: [best?.waid === undefined ? (best?.number ?? "") : `+${best.waid}`, name] };
}

/** Where the cards begin, line by line. */
async function* findCards(text: string): AsyncGenerator<CardPlace> {
  const pause = createPause();
  for (let line = 1, index = 0, checked = 0; index < text.length; line++) {
    CARD.lastIndex = index;
    if ("Bb".includes(text.charAt(index)) && CARD.test(text)) {
      yield { line, index };
      await pause();
    }
    for (let code = 0; index < text.length && !isBreak(code); index++) {
      code = text.charCodeAt(index);
      if (index < checked) continue;
      checked = index + MOST_CHARACTERS;
      await pause();
    }
    if (text.charCodeAt(index - 1) === CARRIAGE_RETURN && text.charCodeAt(index) === LINE_FEED) index += 1;
  }
}

function isBreak(code: number): boolean {
  return code === LINE_FEED || code === CARRIAGE_RETURN;
}
