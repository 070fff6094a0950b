import { withCountry } from "../phone/with-country.ts";
import { GOOGLE_SEPARATOR } from "./address-book.ts";
import { findColumnMeanings, foldName, isPhoneName } from "./find-column-meanings.ts";

/** A column whose text comes from several columns. */
export interface JoinedColumn {
  name: "name" | "phone";
  /** The column of that name in the file; otherwise it is added. */
  at: number | undefined;
  read(cells: readonly string[]): string;
}

/** First, middle and last names, as `foldName` returns them. */
const NAME_PARTS = [
  /^(?:first ?name|given name|primeiro nome|primer nombre)$/,
  /^(?:middle ?name|additional name|nome do meio|segundo nombre)$/,
  /^(?:last ?name|family name|surname|sobrenome|apellidos?)$/,
];

/** Codes of the area and of the country beside a phone without them, as `foldName` returns them. */
const AREA = /^(?:ddd|area code|cod(?:igo)?(?: de)? area|prefijo|lada)(?: ?\d)?$/;
const CALLING_CODE =
  /^(?:ddi|(?:phone )?country (?:calling )?code|countrycode|country prefix|(?:international )?(?:calling|dial|dialing|dialling) (?:code|prefix)|phone code|cod(?:igo)?(?: d[eol]l?)? pais|codigo internacional|prefijo (?:internacional|pais|de pais|del pais)|indicativo(?: (?:internacional|do pais|de pais|pais))?)(?: ?\d)?$/;
/** Also that of an address. */
const COUNTRY = /^(?:country|country name|country iso|iso country|country region|pais)$/;

/** Whether a joined column has the text of each one. */
export function findJoined(columns: readonly string[]): boolean[] {
  const folded = columns.map(foldName);
  const [hasName, hasPhone] = [columns.includes("name"), folded.includes("phone")];
  return folded.map((name) => {
    if (NAME_PARTS.some((part) => part.test(name))) return hasName;
    return hasPhone && (isPhoneName(name) || AREA.test(name) || CALLING_CODE.test(name));
  });
}

/** The name of which a file has the parts, and the phone of which it has several. */
export function findJoinedColumns(columns: readonly string[]): JoinedColumn[] {
  const folded = columns.map(foldName);
  const findOwn = (name: string) => (folded.includes(name) ? folded.indexOf(name) : undefined);
  const [readName, readPhone] = [findName(columns, folded), findPhone(columns, folded)];
  return [
    ...(readName ? [{ name: "name", at: findOwn("name"), read: readName } as const] : []),
    ...(readPhone ? [{ name: "phone", at: findOwn("phone"), read: readPhone } as const] : []),
  ];
}

function findName(columns: readonly string[], folded: readonly string[]): JoinedColumn["read"] | undefined {
  const [first = -1, middle = -1, last = -1] = NAME_PARTS.map((part) =>
    folded.findIndex((name) => part.test(name)),
  );
  if (middle < 0 && last < 0) return undefined;
  const named = findColumnMeanings(columns).indexOf("name");
  const full = named === first ? -1 : named;
  const parts = first < 0 ? [full, middle, last] : [first, middle, last];
  const join = (cells: readonly string[]) => parts.flatMap((at) => (cells[at] ?? "").trim() || []).join(" ");
  return (cells) => (first < 0 ? "" : (cells[full] ?? "").trim()) || join(cells);
}

/** WhatsApp and mobile phones, in the name of a column or a label; all others come after them. */
const RANKS = [/\b(?:whats|zap)/, /\b(?:mobil|cel|movil|telemovel)/];

/** Nobody receives a message there. */
const NO_CHAT = /\b(?:fax|pager)\b/;

const CODES = [AREA, CALLING_CODE, COUNTRY];

/** The best of the phones that has a value. The labels of Google Contacts say what its numbered phones are. */
function findPhone(columns: readonly string[], folded: readonly string[]): JoinedColumn["read"] | undefined {
  const best = findColumnMeanings(columns).indexOf("phone");
  const others = columns.flatMap((name, at) => (at !== best && isPhoneName(name) ? [at] : []));
  const isGoogle = folded.includes("phone 1 value");
  const hasCodes = folded.some((name) => CODES.some((code) => code.test(name)));
  if (best < 0 || (others.length === 0 && !isGoogle && !hasCodes)) return undefined;
  const places = [best, ...others].map((at) => {
    const [, stem] = /^(phone \d+) value$/.exec(folded[at] ?? "") ?? [];
    const codes = CODES.map((code) => findBeside(folded, at, code));
    return {
      at,
      codes,
      label: folded.findIndex((name) => name === `${stem} label` || name === `${stem} type`),
    };
  });
  return (cells) => {
    const phones = places.flatMap(({ at, codes, label }) => {
      const [cell = ""] = isGoogle ? (cells[at] ?? "").split(GOOGLE_SEPARATOR) : [cells[at]];
      const text = withCodes(
        cell.trim(),
        codes.map((code) => cells[code] ?? ""),
      );
      const name = foldName(cells[label] ?? "") || (folded[at] ?? "");
      return text === "" || NO_CHAT.test(name)
        ? []
        : { text, rank: hasDigits(text) ? rankOf(name) : Number.POSITIVE_INFINITY };
    });
    return phones.toSorted((a, b) => a.rank - b.rank)[0]?.text ?? "";
  };
}

/** The nearest column of a code before a phone; otherwise the first one. */
function findBeside(folded: readonly string[], phone: number, code: RegExp): number {
  const before = folded.findLastIndex((name, at) => at < phone && code.test(name));
  return before < 0 ? folded.findIndex((name) => code.test(name)) : before;
}

/** More digits have the code of the area already. */
const MOST_LOCAL_DIGITS = 9;
const FEWEST_LOCAL_DIGITS = 6;

function withCodes(phone: string, [area = "", code = "", country = ""]: readonly string[]): string {
  const digits = countDigits(phone);
  const isLocal =
    digits >= FEWEST_LOCAL_DIGITS && digits <= MOST_LOCAL_DIGITS && !/^\W*(?:\+|00)/.test(phone);
  // Some lists call the code of the country a prefix.
  const ofCountry = /^\W*(?:\+|00)/.test(area) ? area : code.trim() || country;
  const ofArea = area.replace(/[\s()-]/g, "").replace(/^0+/, "");
  return withCountry(isLocal && /^\d{1,4}$/.test(ofArea) ? `(${ofArea}) ${phone}` : phone, ofCountry);
}

function countDigits(text: string): number {
  return text.match(/\p{Nd}/gu)?.length ?? 0;
}

/** A column such as `WhatsApp` may only say whether the phone in another one has it. */
function hasDigits(text: string): boolean {
  return countDigits(text) > 1;
}

function rankOf(name: string): number {
  const rank = RANKS.findIndex((words) => words.test(name));
  return rank < 0 ? RANKS.length : rank;
}
