import { GatewayError, invalidField } from "../../gateway-error.ts";

export interface Base64File {
  /** As declared in the data URI; not verified. */
  mime_type?: string;
  /** Decoded in pieces, because the text itself is already large. Can be read once. */
  pieces: Iterable<Buffer>;
}

/** A data URI declares its type within this many characters. */
const HEADER_CHARACTERS = 512;
/** Four characters encode three bytes. */
const PIECE_CHARACTERS = 4 * 65_536;

/** Reads a data URI or bare base64. Throws VALIDATION_ERROR for a text that is neither, PAYLOAD_TOO_LARGE. */
export function readBase64File(field: string, text: string, maxBytes: number): Base64File {
  const [header, type, parameters] =
    /^\s*data:([^;,]*)((?:;[^;,]*)*),/i.exec(text.slice(0, HEADER_CHARACTERS)) ?? [];
  if (header === undefined) return { pieces: decode(field, text, maxBytes) };
  if (!parameters?.toLowerCase().split(/; */).includes("base64"))
    throw invalidField(field, "is a data URI without base64", "not_base64");
  return { mime_type: type, pieces: decode(field, text.slice(header.length), maxBytes) };
}

/** What programs write for nothing; its letters are base64 too. */
const NOTHING = /^(?:null|none|nil|nan|undefined|true|false)$/i;

function decode(field: string, text: string, maxBytes: number): Iterable<Buffer> {
  const word = text.slice(0, HEADER_CHARACTERS).trim();
  if (NOTHING.test(word))
    throw invalidField(field, `is the word "${word}", not a file`, "not_base64", { word });
  const encoded = withoutBlanks(field, withoutEscapes(text));
  const paddingAt = encoded.indexOf("=");
  const dataLength = paddingAt < 0 ? encoded.length : paddingAt;
  if (Math.floor((dataLength * 3) / 4) > maxBytes) throw fileTooLarge(maxBytes);
  if (/[^A-Za-z0-9+/_-]/.test(encoded.slice(0, dataLength)) || !/^={0,2}$/.test(encoded.slice(dataLength)))
    throw invalidField(field, "is not base64", "not_base64");
  if (!hasLength(dataLength, encoded.length - dataLength))
    throw invalidField(field, "is not whole: base64 never has this length", "not_base64");
  return pieces(encoded);
}

/** Some clients encode base64 for a URL, as a data URI allows. */
function withoutEscapes(text: string): string {
  return text.includes("%") ? text.replace(/%(?:2B|2F|3D|0D|0A|20)/gi, decodeURIComponent) : text;
}

/** Whether base64 has such a length; the padding may be missing. */
function hasLength(data: number, padding: number): boolean {
  return padding === 0 ? data % 4 !== 1 : (data + padding) % 4 === 0;
}

/**
 * Base64 in one line. A form that was not encoded turned plus signs into blanks, while other blanks are only layout.
 * Lines or the length prove which; otherwise the file is refused, since it would change.
 */
function withoutBlanks(field: string, text: string): string {
  if (!/\s/.test(text)) return text;
  const plain = text.replace(/^\ufeff/, "");
  if (/[^\0-\xff]/.test(plain)) throw invalidField(field, "is not base64", "not_base64");
  const line = without(plain, isLineBreak);
  if (!line.includes(" ")) return line;
  const paddingAt = line.indexOf("=");
  const data = paddingAt < 0 ? line : line.slice(0, paddingAt);
  const padding = paddingAt < 0 ? "" : line.slice(paddingAt).replaceAll(" ", "");
  const bare = without(data, isBlank);
  if (/[^A-Za-z0-9+/_-]/.test(bare)) throw invalidField(field, "is not base64", "not_base64");
  const meaning = /[+_-]/.test(bare)
    ? "layout"
    : (meaningByLines(text) ?? meaningByLength(data, bare, padding));
  if (meaning === undefined)
    throw invalidField(
      field,
      "has blanks where plus signs may have been: send it as JSON, or encode it for the form, + as %2B",
      "not_base64",
    );
  return (meaning === "plus" ? data.replaceAll(" ", "+") : bare) + padding;
}

/** Works on bytes: a pattern that removes a million characters would make a million pieces of text. */
function without(text: string, isRemoved: (byte: number) => boolean): string {
  const bytes = Buffer.from(text, "latin1");
  let length = 0;
  for (const byte of bytes) if (!isRemoved(byte)) bytes[length++] = byte;
  return bytes.toString("latin1", 0, length);
}

const isLineBreak = (byte: number) => (byte >= 0x09 && byte <= 0x0d) || byte === 0xa0;
const isBlank = (byte: number) => byte === 0x20;

type Meaning = "plus" | "layout";

/** The layout of a long text shows in its beginning. */
const LAYOUT_CHARACTERS = 1_000_000;

/** Whether lines have one length with their blanks, or without. */
function meaningByLines(text: string): Meaning | undefined {
  const [full, bare] = [new EqualLengths(), new EqualLengths()];
  for (const [line] of text.slice(0, LAYOUT_CHARACTERS).matchAll(/[^\r\n]+/g)) {
    full.add(line.length);
    bare.add(line.replaceAll(" ", "").length);
  }
  if (full.areEqual === bare.areEqual) return undefined;
  return full.areEqual ? "plus" : "layout";
}

function meaningByLength(data: string, bare: string, padding: string): Meaning | undefined {
  if (isInGroups(data.trim().slice(0, LAYOUT_CHARACTERS))) return "layout";
  const couldBePlus = hasLength(data.length, padding.length);
  const couldBeLayout = hasLength(bare.length, padding.length);
  if (couldBePlus !== couldBeLayout) return couldBePlus ? "plus" : "layout";
  // Both are possible for a file without padding: an encoder that left it out is rare.
  const isWholeWithPlus = (data.length + padding.length) % 4 === 0;
  const isWholeBare = (bare.length + padding.length) % 4 === 0;
  if (isWholeWithPlus && !isWholeBare) return "plus";
  return isWholeBare && !data.trim().includes(" ") ? "layout" : undefined;
}

/** Line breaks that became blanks: groups of one length. Two groups prove it only with a usual length of lines. */
function isInGroups(data: string): boolean {
  const groups = new EqualLengths();
  let first = 0;
  for (let at = 0; at < data.length; ) {
    const end = data.indexOf(" ", at);
    const length = (end < 0 ? data.length : end) - at;
    first ||= length;
    if (length > 0) groups.add(length);
    at += length + 1;
  }
  const isUsual = [60, 64, 72, 76].includes(first);
  return groups.areEqual && first % 4 === 0 && (groups.count > 2 || isUsual);
}

/** Lengths of which only the last may be shorter. */
class EqualLengths {
  count = 0;
  #first = 0;
  #last = 0;
  #isBroken = false;

  add(length: number): void {
    this.#isBroken ||= this.count > 0 && this.#last !== this.#first;
    if (this.count === 0) this.#first = length;
    this.#last = length;
    this.count += 1;
  }

  get areEqual(): boolean {
    return this.count > 1 && !this.#isBroken && this.#last <= this.#first;
  }
}

function* pieces(encoded: string): Generator<Buffer> {
  for (let at = 0; at < encoded.length; at += PIECE_CHARACTERS)
    yield Buffer.from(encoded.slice(at, at + PIECE_CHARACTERS), "base64");
}

export function fileTooLarge(maxBytes: number): GatewayError {
  return new GatewayError(
    "PAYLOAD_TOO_LARGE",
    `The file is larger than ${Math.floor(maxBytes / 1_048_576)} MiB.`,
    {
      details: { max_bytes: maxBytes },
    },
  );
}
