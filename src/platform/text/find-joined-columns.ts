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

/** Whether a joined column has the text of this one. */
export function isJoined(name: string, columns: readonly string[]): boolean {
  const folded = foldName(name);
  if (NAME_PARTS.some((part) => part.test(folded))) return columns.includes("name");
  return isPhoneName(name) && columns.some((one) => foldName(one) === "phone");
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
  if (best < 0 || (others.length === 0 && !isGoogle)) return undefined;
  const places = [best, ...others].map((at) => {
    const [, stem] = /^(phone \d+) value$/.exec(folded[at] ?? "") ?? [];
    return { at, label: folded.findIndex((name) => name === `${stem} label` || name === `${stem} type`) };
  });
  return (cells) => {
    const phones = places.flatMap(({ at, label }) => {
      const text = (cells[at] ?? "").trim();
      const name = foldName(cells[label] ?? "") || (folded[at] ?? "");
      return text === "" ? [] : { text, rank: hasDigits(text) ? rankOf(name) : Number.POSITIVE_INFINITY };
    });
    const phone = phones.toSorted((a, b) => a.rank - b.rank)[0]?.text ?? "";
    return isGoogle ? (phone.split(GOOGLE_SEPARATOR)[0] ?? "") : phone;
  };
}

/** A column such as `WhatsApp` may only say whether the phone in another one has it. */
function hasDigits(text: string): boolean {
  return (text.match(/\p{Nd}/gu)?.length ?? 0) > 1;
}

function rankOf(name: string): number {
  const rank = RANKS.findIndex((words) => words.test(name));
  return rank < 0 ? RANKS.length : rank;
}
