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
const COUNTRY = /^(?:ddi|country code|cod(?:igo)?(?: d[eo])? pais)(?: ?\d)?$/;

/** Whether a joined column has the text of each one. */
export function findJoined(columns: readonly string[]): boolean[] {
  const folded = columns.map(foldName);
  const [hasName, hasPhone] = [columns.includes("name"), folded.includes("phone")];
  return folded.map((name) => {
    if (NAME_PARTS.some((part) => part.test(name))) return hasName;
    return hasPhone && (isPhoneName(name) || AREA.test(name) || COUNTRY.test(name));
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

/** The best of the phones that has a value. The labels of Google Contacts say what its numbered phones are. */
function findPhone(columns: readonly string[], folded: readonly string[]): JoinedColumn["read"] | undefined {
  const best = findColumnMeanings(columns).indexOf("phone");
  const others = columns.flatMap((name, at) => (at !== best && isPhoneName(name) ? [at] : []));
  const isGoogle = folded.includes("phone 1 value");
  const hasArea = folded.some((name) => AREA.test(name));
  if (best < 0 || (others.length === 0 && !isGoogle && !hasArea)) return undefined;
  const places = [best, ...others].map((at) => {
    const [, stem] = /^(phone \d+) value$/.exec(folded[at] ?? "") ?? [];
    const codes = [COUNTRY, AREA].map((code) => findBeside(folded, at, code));
    return {
      at,
      codes,
      label: folded.findIndex((name) => name === `${stem} label` || name === `${stem} type`),
    };
  });
  return (cells) => {
    const phones = places.flatMap(({ at, codes, label }) => {
      const text = withCodes(
        (cells[at] ?? "").trim(),
        codes.map((code) => cells[code] ?? ""),
      );
      const name = foldName(cells[label] ?? "") || (folded[at] ?? "");
      return text === "" ? [] : { text, rank: hasDigits(text) ? rankOf(name) : Number.POSITIVE_INFINITY };
    });
    const phone = phones.toSorted((a, b) => a.rank - b.rank)[0]?.text ?? "";
    return isGoogle ? (phone.split(GOOGLE_SEPARATOR)[0] ?? "") : phone;
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

function withCodes(phone: string, codes: readonly string[]): string {
  const [country = "", area = ""] = codes.map((code) => code.replace(/[\s()+-]/g, "").replace(/^0+/, ""));
  const digits = countDigits(phone);
  const isLocal =
    digits >= FEWEST_LOCAL_DIGITS && digits <= MOST_LOCAL_DIGITS && !/^\W*(?:\+|00)/.test(phone);
  if (!isLocal || !/^\d{1,4}$/.test(area)) return phone;
  return `${/^\d{1,3}$/.test(country) ? `+${country} ` : ""}(${area}) ${phone}`;
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
