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
  const [readName, readPhone] = [findName(columns, folded), findPhone(columns)];
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

const MOBILE = /mobile|cell|celular|movil|whats/;

/** The first of the phones that has a value; a mobile is taken before another one. */
function findPhone(columns: readonly string[]): JoinedColumn["read"] | undefined {
  const best = findColumnMeanings(columns).indexOf("phone");
  const others = columns.flatMap((name, at) => (at !== best && isPhoneName(name) ? [at] : []));
  const isGoogle = columns.some((name) => foldName(name) === "phone 1 value");
  if (best < 0 || (others.length === 0 && !isGoogle)) return undefined;
  const isMobile = (at: number) => MOBILE.test(foldName(columns[at] ?? ""));
  const places = [best, ...others.filter(isMobile), ...others.filter((at) => !isMobile(at))];
  return (cells) => {
    const phone = places.map((at) => (cells[at] ?? "").trim()).find((text) => text !== "") ?? "";
    return isGoogle ? (phone.split(GOOGLE_SEPARATOR)[0] ?? "") : phone;
  };
}
