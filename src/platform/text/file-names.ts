import { decodeText } from "./decode-text.ts";

const MAX_HEADER = 8192;
const MAX_PARAMETERS = 50;

/** What precedes the parameters of a header. */
const HEADER_VALUE = /^\s*[^=;\s]*(?=[;\s]|$)/;
/** One parameter; its value is a quoted text or everything to the next semicolon. */
const PARAMETER = /[;\s]*([^=;\s"]{1,40})\s*=\s*(?:"((?:[^"\\]|\\.)*)(?:"|$)|([^;]*))/y;
const ENCODED_WORD = /=\?([^?*\s]{1,40})[^?\s]{0,40}\?([bq])\?([^?\s]*)\?=/gi;
const EXTENDED = /^([^']{0,40})'[^']{0,40}'(.*)$/s;

/**
 * The file name of a Content-Disposition header as its sender meant it: in any charset, by RFC 8187, 2231 or 2047, in
 * raw bytes or percent-encoded. Undefined if there is none. In the header, each character is one byte.
 */
export function fileNameInDisposition(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const parameters = readDisposition(header);
  const plain = parameters.get("filename");
  const name = extendedName(parameters) ?? (plain === undefined ? undefined : withoutPercents(textOf(plain)));
  return name?.trim() || undefined;
}

/** As `fileNameInDisposition`, for a part of a form: browsers percent-encode only quotes and line breaks. */
export function fileNameInForm(parameters: ReadonlyMap<string, string>): string | undefined {
  const plain = parameters.get("filename");
  return extendedName(parameters) ?? (plain === undefined ? undefined : formText(plain));
}

/** The text of a form's parameter, as browsers and other clients encode it. */
export function formText(raw: string): string {
  return textOf(raw).replace(/%22|%0D|%0A/gi, decodeURIComponent);
}

/** The parameters of a Content-Disposition header in raw bytes, by their names in lower case. */
export function readDisposition(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  if (header.length > MAX_HEADER) return parameters;
  PARAMETER.lastIndex = HEADER_VALUE.exec(header)?.[0].length ?? 0;
  while (parameters.size < MAX_PARAMETERS) {
    const [, name, quoted, bare = ""] = PARAMETER.exec(header) ?? [];
    if (name === undefined) break;
    // Only these are escaped: some clients send whole Windows paths.
    const value = quoted?.replace(/\\(["\\])/g, "$1") ?? bare.trim().replace(/^'(.*)'$/, "$1");
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
  }
  PARAMETER.lastIndex = 0;
  return parameters;
}

/** The last part of an address; undefined if it has none. */
export function fileNameOfUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  return decodeText(percentBytes(last)).trim() || undefined;
}

/** `filename*`, or the parts `filename*0`, `filename*1*` ... of a long name. */
function extendedName(parameters: ReadonlyMap<string, string>): string | undefined {
  const whole = parameters.get("filename*");
  if (whole !== undefined) {
    const [, charset, encoded = whole] = EXTENDED.exec(whole) ?? [];
    return decodeText(percentBytes(encoded), charset || undefined);
  }
  const parts: Buffer[] = [];
  let charset: string | undefined;
  for (let n = 0; n < MAX_PARAMETERS; n++) {
    const plain = parameters.get(`filename*${n}`);
    const encoded = parameters.get(`filename*${n}*`);
    if (plain === undefined && encoded === undefined) break;
    const [, named, rest = encoded] = (n === 0 && EXTENDED.exec(encoded ?? "")) || [];
    charset = named || charset;
    parts.push(rest === undefined ? Buffer.from(plain ?? "", "latin1") : percentBytes(rest));
  }
  return parts.length > 0 ? decodeText(Buffer.concat(parts), charset) : undefined;
}

/** Text of one charset; several encoded words may share a character. */
interface Run {
  charset?: string;
  bytes: Buffer;
}

/** The text of a raw parameter, with its encoded words decoded. */
function textOf(raw: string): string {
  // Blanks between encoded words do not count.
  const joined = raw.replace(/\?=\s+=\?/g, "?==?");
  const runs: Run[] = [];
  let at = 0;
  for (const { 0: word, 1: name = "", 2: kind = "", 3: encoded = "", index } of joined.matchAll(
    ENCODED_WORD,
  )) {
    if (index > at) runs.push({ bytes: Buffer.from(joined.slice(at, index), "latin1") });
    const charset = name.toLowerCase();
    const bytes = kind.toLowerCase() === "b" ? Buffer.from(encoded, "base64") : quotedBytes(encoded);
    const last = runs.at(-1);
    if (last?.charset === charset) last.bytes = Buffer.concat([last.bytes, bytes]);
    else runs.push({ charset, bytes });
    at = index + word.length;
  }
  runs.push({ bytes: Buffer.from(joined.slice(at), "latin1") });
  return runs.map(({ charset, bytes }) => decodeText(bytes, charset)).join("");
}

/** A name that some servers percent-encode; one that only has percent signs stays. */
function withoutPercents(name: string): string {
  const isEncoded = /^[\x20-\x7e]*$/.test(name) && /%20|%[89a-f][0-9a-f]/i.test(name);
  return isEncoded ? decodeText(percentBytes(name)) : name;
}

/** Percent signs without two digits stay. */
function percentBytes(text: string): Buffer {
  return Buffer.from(text.replace(/%([0-9a-f]{2})/gi, byteOf), "latin1");
}

function quotedBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll("_", " ").replace(/=([0-9a-f]{2})/gi, byteOf), "latin1");
}

function byteOf(_: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16));
}
