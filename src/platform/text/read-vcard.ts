/** Limit of the part that is parsed. Pictures can exceed it, but they follow the phone numbers. */
const READ_CHARACTERS = 65_536;
const MAX_PHONES = 20;
/** Longer values are not phone numbers. */
const PHONE_CHARACTERS = 100;

export interface VcardPhone {
  /** As written in the card. */
  number: string;
  /** The digits of the `waid` parameter, which holds the WhatsApp number. */
  waid?: string;
  isMobile?: true;
  isFax?: true;
}

export interface Vcard {
  /** Whether the text begins with BEGIN:VCARD. */
  begins: boolean;
  /** Whether the parsed part contains END:VCARD. */
  ends: boolean;
  /** The first FN property; without one the name in N, otherwise that of the company. */
  name?: string;
  /** In the order of the card, at most 20. */
  phones: VcardPhone[];
}

/**
 * Reads the name and the phone numbers of a vCard (versions 2.1 to 4) in linear time, even if malformed.
 * Ignores a second card in the same text.
 */
export function readVcard(text: string): Vcard {
  const vcard: Vcard = { begins: false, ends: false, phones: [] };
  const names: Names = {};
  for (const [at, line] of unfold(text.slice(0, READ_CHARACTERS)).entries()) {
    const property = readProperty(line);
    if (!property) continue;
    const { name, parameters, value } = property;
    if (name === "BEGIN" && at === 0) vcard.begins = value.toUpperCase() === "VCARD";
    if (name === "END" && value.toUpperCase() === "VCARD") {
      vcard.ends = true;
      break;
    }
    readName(names, name, value);
    if (name === "TEL" && vcard.phones.length < MAX_PHONES)
      vcard.phones.push(...readPhone(parameters, value));
  }
  const name = names.FN || names.N || names.ORG;
  return name ? { ...vcard, name } : vcard;
}

/** The first of each property that is a name. */
interface Names {
  FN?: string;
  N?: string;
  ORG?: string;
}

function readName(names: Names, property: string, value: string): void {
  if (property === "FN") names.FN ||= withoutEscapes(value);
  if (property !== "N" && property !== "ORG") return;
  const parts = value.split(/(?<!\\);/).map(withoutEscapes);
  const [family, given, further, prefix, suffix] = parts;
  const shown = property === "ORG" ? parts : [prefix, given, further, family, suffix];
  names[property] ||= shown.filter((part) => part).join(" ");
}

/**
 * The first card of a text with all its properties, one a line. A phone without a `waid` gets the one that `waidOf`
 * finds, since clients offer a chat only with that. Reads at most 64 KiB.
 */
export function completeVcard(text: string, waidOf: (number: string) => string | undefined): string {
  const lines: string[] = [];
  for (const line of unfold(text.slice(0, READ_CHARACTERS))) {
    const property = readProperty(line);
    const [phone] = property?.name === "TEL" ? readPhone(property.parameters, property.value) : [];
    const waid = phone && !phone.waid ? waidOf(phone.number) : undefined;
    const colon = endOfHeader(line);
    lines.push(waid ? `${line.slice(0, colon)};waid=${waid}${line.slice(colon)}` : line);
    if (property?.name === "END") break;
  }
  return lines.join("\n");
}

/** The lines of the text; a line that begins with a space or a tab, or follows a soft break, continues the previous one. */
function unfold(text: string): string[] {
  const lines: string[] = [];
  /** Of a line that goes on behind a soft break. */
  let parts: string[] = [];
  const unfolded = text
    .trim()
    .replace(/\r\n?/g, "\n")
    .replace(/\n[ \t]/g, "");
  for (const line of unfolded.split("\n")) {
    const goesOn = line.endsWith("=") && (parts.length > 0 || QUOTED_PRINTABLE.test(line));
    parts.push(goesOn ? line.slice(0, -1) : line);
    if (goesOn) continue;
    lines.push(parts.join(""));
    parts = [];
  }
  return parts.length > 0 ? [...lines, `${parts.join("")}=`] : lines;
}

/** How vCard 2.1, and so Android, writes a text with accents. */
const QUOTED_PRINTABLE = /^[^:]{0,200};(?:ENCODING=)?QUOTED-PRINTABLE[;:]/i;

function decodeQuotedPrintable(text: string): string {
  const decoder = new TextDecoder();
  return text.replace(/(?:=[\dA-F]{2})+/gi, (signs) =>
    decoder.decode(Uint8Array.from(signs.slice(1).split("="), (hex) => Number.parseInt(hex, 16))),
  );
}

/** `item1.TEL;TYPE=cell:+55 11` is the property TEL; undefined for a line without a value. */
function readProperty(line: string): { name: string; parameters: string[]; value: string } | undefined {
  const colon = endOfHeader(line);
  if (colon < 0) return undefined;
  const [header = "", ...parameters] = line.slice(0, colon).split(";");
  const name = header.slice(header.lastIndexOf(".") + 1);
  const value = line.slice(colon + 1).trim();
  const decoded = QUOTED_PRINTABLE.test(line) ? decodeQuotedPrintable(value) : value;
  return { name: name.trim().toUpperCase(), parameters, value: decoded };
}

/** The first colon outside quotes, or the first colon of all if a quote is not closed. */
function endOfHeader(line: string): number {
  const first = line.indexOf(":");
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '"') isQuoted = !isQuoted;
    else if (line[at] === ":" && !isQuoted) return at;
  }
  return first;
}

function readPhone(parameters: readonly string[], value: string): VcardPhone[] {
  const number = value.toLowerCase().startsWith("tel:") ? value.slice("tel:".length) : value;
  if (number === "" || number.length > PHONE_CHARACTERS) return [];
  const waid = parameters
    .find((parameter) => parameter.toLowerCase().startsWith("waid="))
    ?.slice("waid=".length);
  const isMobile = parameters.some((parameter) => /\b(?:cell|mobile)\b/i.test(parameter));
  const isFax = parameters.some((parameter) => /\b(?:fax|pager)\b/i.test(parameter));
  return [
    {
      number: withoutEscapes(number),
      ...(waid && /^\d{5,20}$/.test(waid) && { waid }),
      ...(isMobile && { isMobile }),
      ...(isFax && { isFax }),
    },
  ];
}

function withoutEscapes(value: string): string {
  return value
    .replace(/\\n/gi, " ")
    .replace(/\\([\\,;:])/g, "$1")
    .trim();
}
