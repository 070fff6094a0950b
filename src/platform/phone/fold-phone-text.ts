import { type ValueIssue, valueIssue } from "../issue-codes.ts";

/** Digits as they were written, and whether a plus or 00 says that the country code is among them. */
export interface FoldedPhone {
  digits: string;
  isInternational: boolean;
  /** Written as digits alone, without 00 or an address around them: they may also be a LID. */
  isBare: boolean;
  /** Without a plus, but with brackets or a dash as in `(51) 98765-4321`: so people write numbers of their own country. */
  isPunctuated: boolean;
  /** With its own signs between the digits, in the forms that `foldSigns` leaves. */
  written: string;
  /** Where a local number of RFC 3966 is dialled: `+44`, or a name such as `example.com`. */
  context?: string;
  /** The number that it would be behind a number of a list, as in `2. 11987650003`. */
  listed?: ListedPhone;
  /** The number that it would be if it ended earlier: at a blank, a line break or a bracket. */
  heads: readonly PhoneHead[];
}

export interface ListedPhone {
  digits: string;
  /** People write the code of an area so, too: only a mobile needs none. */
  isMobile: boolean;
}

/** What stands before a blank, a line break, a bracket, a last digit or a fraction of zeros. */
export interface PhoneHead {
  digits: string;
  /** What is wrong if this is a whole number, and the rest is no group of it. */
  problem: ValueIssue;
  /** The last group of the text, behind a blank. */
  group?: string;
  /** What follows has the look of one more group, as in `1234 5678`. */
  isGrouped: boolean;
  /** One digit behind a dash, which fixed lines have as an extension of theirs. */
  isMobile?: boolean;
}

const LONGEST_TEXT = 200;
/** Codes of a text that was a phone, or has several. */
export const SPOILT_PHONE = /^(?:changed_by_spreadsheet|several_numbers)$/;
/** The fewest digits of a phone number, so that the parts of a cell are numbers of their own. */
export const FEWEST_DIGITS = 7;
export const MOST_DIGITS = 15;
/** Longer digits are in no national number that people write without a zero, with rare exceptions. */
export const MOST_NATIONAL = 11;
/** Of a number without the code of its area. */
const MOST_LOCAL_DIGITS = 9;

/** Reads the signs of a phone number as people, spreadsheets and contact books write it. */
export function foldPhoneText(text: string): FoldedPhone | ValueIssue {
  if (text.length > LONGEST_TEXT)
    return valueIssue(`is longer than ${LONGEST_TEXT} characters`, "too_long", { max: LONGEST_TEXT });
  const visible = foldSigns(text).trim().toLowerCase();
  if (visible === "") return valueIssue("is empty", "missing");
  const { local, context } = splitContext(unwrap(visible));
  if (EXPONENT.test(local)) return changedBySpreadsheet();
  if (!/\d/.test(local)) return valueIssue("is not a phone number", "not_a_number");
  const number = withoutExtension(local);
  if (typeof number !== "string") return number;
  const read = refuseEvaluated(number) ?? refuseParts(number) ?? readSigns(number);
  if ("code" in read) return read;
  if (isPlaceholder(number, read.digits)) return valueIssue("is not a phone number", "not_a_number");
  const isBare = !read.isInternational && BARE.test(visible);
  const isPunctuated = !read.isInternational && /\(\d+\)|\d-\d/.test(number);
  const listed = read.isInternational ? undefined : readListed(number);
  return {
    ...read,
    isBare,
    isPunctuated,
    written: number,
    listed,
    ...(context !== undefined && { context }),
  };
}

/** `+91-9876543210` is a formula, and its value a negative number, which bookkeepers write in brackets. */
function refuseEvaluated(text: string): ValueIssue | undefined {
  const isNegative = /^[ (+]*-|-[ ).,;]*$/.test(text) || /^\([\d ,.\n]+\)$/.test(text);
  return isNegative ? changedBySpreadsheet() : undefined;
}

/** `(00) 98765-0003` lacks the code of its area, and `(99) 99999-9999` is an example. */
function isPlaceholder(text: string, digits: string): boolean {
  const isWithoutArea = /^\(0+\)/.test(text) && digits.replace(/^0+/, "").length <= MOST_LOCAL_DIGITS;
  return isWithoutArea || (digits.length >= FEWEST_DIGITS && /^(\d)\1*$/.test(digits));
}

const NUMBERING = /^[1-9]\d{0,2}(?:[.)/] +| +- +| +(?=0))/;

function readListed(text: string): ListedPhone | undefined {
  const [number] = NUMBERING.exec(text) ?? [];
  if (number === undefined) return undefined;
  const digits = text.slice(number.length).replace(/\D/g, "");
  return digits.length < FEWEST_DIGITS ? undefined : { digits, isMobile: !/[.)/]/.test(number) };
}

/** `5.51199E+12`, and with blanks; but `98765432 e 12` are two numbers in Portuguese. */
const EXPONENT = /^[+-]?(?:\d+(?:[.,]\d+)?e[+-]?\d+|\d{1,6}(?:[.,]\d+)? ?e ?[+-]? ?\d{1,3})$/;
/** Also in the marks of a spreadsheet. */
const BARE = /^[='"]*\d+['"]*$/;

function changedBySpreadsheet(): ValueIssue {
  return valueIssue(
    "was changed by a spreadsheet such as Excel. Format the column as text, and enter the number again",
    "changed_by_spreadsheet",
  );
}

const SAME_SIGN: readonly [string, RegExp][] = [
  // Invisible: marks of direction, joiners, variation selectors, and the frame of a keycap.
  ["", /\p{Cf}|\p{Default_Ignorable_Code_Point}|\u20e3/gu],
  ["\n", /[\t-\r\u0085\u2028\u2029]/g],
  [" ", /[\p{Zs}\u2800]|(?!\n)\p{Cc}/gu],
  ["-", /[\p{Pd}\u2212\u30fc\uff70]/gu],
  ["+", /[\uff0b\ufe62\ufb29\u2795]/g],
  [".", /[\uff0e\ufe52\u2024]/g],
  ["e", /[\uff25\uff45]/g],
  [",", /[\uff0c\ufe50\u3001\u060c\u066b\u066c]/g],
  ["/", /[\uff0f\u2044\u2215]/g],
  [":", /[\uff1a\ufe55]/g],
  ["=", /[\uff1d\ufe66]/g],
  ["'", /[\u2018\u2019\u201a\u201b\u02bc\u00b4\u0060\uff07]/g],
  ['"', /[\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02]/g],
  ["(", /\p{Ps}/gu],
  [")", /\p{Pe}/gu],
];

/** The text with its visible signs alone, the digits of every script as 0 to 9, and one sign of each kind. */
export function foldSigns(text: string): string {
  let folded = text;
  for (const [sign, same] of SAME_SIGN) folded = folded.replace(same, sign);
  return folded.replace(/(?![0-9])\p{Nd}/gu, valueOfDigit);
}

const DIGIT = /^\p{Nd}$/u;

/** Unicode encodes the digits of each script in a row from zero to nine. */
function valueOfDigit(digit: string): string {
  const at = digit.codePointAt(0) ?? 0;
  let first = at;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first -= 1;
  return String((at - first) % 10);
}

/** Addresses of WhatsApp, which have whole numbers. Two numbers in one address are refused. */
const LINKS: readonly RegExp[] = [
  /^(?:https?:\/\/)?(?:www\.)?wa\.me\/(?:%2b|\+)?(\d+)\/?(?:\?.*)?$/s,
  /^(?:(?:https?:\/\/)?(?:api|web)\.whatsapp\.com|whatsapp:\/)\/send\/?\?(?:(?!phone=)[^&]*&)*phone=(?:%2b|\+)?(\d+)(?:&(?!phone=)[^&]*)*$/s,
];

const WRAPPERS: readonly RegExp[] = [
  /^="(.*)"$/s,
  /^"(.*)"$/s,
  /^'(.*)'$/s,
  /^[='](?=[ '(+]*\d)(.*)$/s,
  /^(.*\d)'+$/s,
  /^(?:tel|whatsapp):(?!\/\/)(.*)$/s,
];

/** The number inside the marks of a spreadsheet, and behind the scheme of an address. */
function unwrap(text: string): string {
  for (const link of LINKS) {
    const digits = link.exec(text)?.[1];
    if (digits !== undefined) return digits.startsWith("0") ? digits : `+${digits}`;
  }
  for (const wrapper of WRAPPERS) {
    const inside = wrapper.exec(text)?.[1];
    if (inside !== undefined) return unwrap(inside.trim().replace(/^%2b/, "+"));
  }
  return text;
}

const CONTEXT = /;phone-context=([^;]*)/;

function splitContext(text: string): { local: string; context?: string } {
  const [parameter, context] = CONTEXT.exec(text) ?? [];
  if (parameter === undefined || context === undefined) return { local: text };
  return { local: text.replace(parameter, ""), context: context.replace(/[ ().-]/g, "") };
}

/** Every other letter is refused: a letter of a keypad is no digit that the text has. */
const EXTENSION =
  /^(?:;?ext(?:n|ension|ensión|ensão|ensao)?|x|#|ramal|anexo|interno|int|poste|доб|durchwahl)[.:= ]*\d{1,7}$/;
const AND_ANOTHER = /^(?:and|or|e|ou|y|o|und|oder|et)\b/;

/** An extension is a place behind the number, so it is left out. */
function withoutExtension(text: string): string | ValueIssue {
  const at = text.search(/[\p{L}#]/u);
  if (at < 0) return text;
  const [head, tail] = [text.slice(0, at), text.slice(at)];
  if (EXTENSION.test(tail) && countDigits(head) >= FEWEST_DIGITS)
    return head.replace(/(?<![ ,;.-])[ ,;.-]+$/, "");
  if (AND_ANOTHER.test(tail) && countDigits(head) >= FEWEST_DIGITS && countDigits(tail) >= FEWEST_DIGITS)
    return severalNumbers();
  return unknownSign(text.slice(at));
}

function countDigits(text: string): number {
  return text.match(/\d/g)?.length ?? 0;
}

export function severalNumbers(): ValueIssue {
  return valueIssue(
    "contains more than one phone number, or digits beside one. Give each number its own entry, and an extension the word ext",
    "several_numbers",
  );
}

function unknownSign(rest: string): ValueIssue {
  const sign = String.fromCodePoint(rest.codePointAt(0) ?? 0);
  const code_point = `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  return valueIssue(
    `contains ${JSON.stringify(sign)} (${code_point}), which is not part of a phone number`,
    "unknown_sign",
    { sign, code_point },
  );
}

/** Refuses two numbers, and a number that ends with a fraction: the digits must not be joined. */
function refuseParts(text: string): ValueIssue | undefined {
  const parts = text.split(/[\n ,;|/&]|(?=\+)/).filter((part) => countDigits(part) >= FEWEST_DIGITS);
  if (parts.length > 1) return severalNumbers();
  // Such as 3333-4444/45, two numbers of one office.
  const [first = "", ...others] = text.split(/[;|/&]/);
  if (countDigits(first) >= FEWEST_DIGITS && others.some((one) => countDigits(one) > 0))
    return severalNumbers();
  const joined = text.replace(/[ ()\n-]/g, "").replace(/(?<![,.;])[,.;]+$/, "");
  if (/,\d/.test(joined)) return changedBySpreadsheet();
  const [whole = "", fraction, ...more] = joined.split(".");
  if (fraction === undefined || more.length > 0 || countDigits(whole) < FEWEST_DIGITS) return undefined;
  return /^(?:\d{1,3}|0+)$/.test(fraction) ? changedBySpreadsheet() : undefined;
}

/** Where a number may end before its text does; the fraction of a spreadsheet is zero. */
const ENDS = /[\n ]+|\(|-(?=\d$)|\.0$|(?<=\d{3})\.00$/g;

/** A number that has the digits of an extension or of a second number behind it is read as both. */
function readSigns(text: string): Omit<FoldedPhone, "isBare" | "isPunctuated" | "written"> | ValueIssue {
  const folded = readDigits(text);
  if ("code" in folded) return folded;
  const heads = [...text.matchAll(ENDS)].flatMap(({ 0: end, index }) => readHead(text, index, end) ?? []);
  return { ...folded, heads };
}

function readHead(text: string, index: number, end: string): PhoneHead | undefined {
  const [before, after] = [text.slice(0, index), text.slice(index + end.length)];
  const head = readDigits(before);
  if ("code" in head || head.digits.length < FEWEST_DIGITS) return undefined;
  if (end.startsWith(".")) return { digits: head.digits, problem: changedBySpreadsheet(), isGrouped: false };
  if (countDigits(after) === 0) return undefined;
  if (end === "-")
    return { digits: head.digits, problem: severalNumbers(), isGrouped: false, isMobile: true };
  const isBlank = /^ +$/.test(end);
  const group = isBlank ? /^\d+$/.exec(after)?.[0] : undefined;
  const isGrouped = isBlank && isNextGroup(before, after);
  return { digits: head.digits, problem: severalNumbers(), group, isGrouped };
}

/** A last group has as many digits as the one before, or at least three; an extension seldom does. */
function isNextGroup(before: string, after: string): boolean {
  const last = /(?:^|[\n )/])(\d{1,4})$/.exec(before)?.[1];
  if (last === undefined || !/^\d/.test(after)) return false;
  return !/^\d+$/.test(after) || (/^\d{2,4}$/.test(after) && after.length >= Math.min(last.length, 3));
}

function readDigits(text: string): Pick<FoldedPhone, "digits" | "isInternational"> | ValueIssue {
  const written = text.replace(/[\n ]/g, "").replace(/(?<![,.;])[,.;]+$/, "");
  const isMarked = /^\(?\+/.test(written);
  const [other] = (isMarked ? written.replace("+", "") : written).match(/[^\d()./-]/u) ?? [];
  if (other !== undefined) return unknownSign(other);
  const all = written.replace(/[^\d]/g, "");
  const isInternational = isMarked || all.startsWith("00");
  const digits = isInternational ? all.replace(/^00/, "") : all;
  return { digits, isInternational };
}
