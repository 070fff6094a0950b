import { createPause } from "../create-pause.ts";
import { invalidField } from "../gateway-error.ts";
import { type ValueIssue, valueIssue } from "../issue-codes.ts";
import { foldPhoneText, SPOILT_PHONE } from "../phone/fold-phone-text.ts";
import { cleanText } from "./clean-text.ts";
import type { CsvEncoding } from "./csv-decoder.ts";
import { detectCsvEncoding } from "./detect-csv-encoding.ts";
import { findColumnMeanings, isPhoneName } from "./find-column-meanings.ts";
import { findJoinedColumns, type JoinedColumn } from "./find-joined-columns.ts";
import { findOtherFormat } from "./find-other-format.ts";
import {
  type CsvRecordProblem,
  countOf,
  LONGEST_RECORD,
  MOST_COLUMNS,
  readCsvTexts,
  splitCsvRecord,
} from "./read-csv-texts.ts";
import { isVcardFile, readVcardRecords } from "./read-vcard-records.ts";

const DELIMITERS = [",", ";", "\t", "|"] as const;
const SHOWN = 100;

export type CsvDelimiter = (typeof DELIMITERS)[number];

interface CsvPlace {
  /** Line of the file, from 1. */
  line: number;
  /** The first 100 characters. */
  text: string;
}

/** Has at most one cell for each column. */
export type CsvRecord = CsvPlace &
  ({ cells: string[]; problem?: never } | { cells?: never; problem: CsvRecordProblem });

/** What is not given is detected. */
export interface CsvFormat {
  delimiter?: CsvDelimiter;
  encoding?: CsvEncoding;
  /** Whether the first line names the columns. */
  hasHead?: boolean;
}

export interface CsvTable extends Required<CsvFormat> {
  /**
   * The names in the first line, at most 128, and `name` and `phone` where the file has them in several columns. Without
   * such a line: `phone` if one column alone has phones, `name` and `email` by the first record, and `column 4` and so on
   * for the others.
   */
  columns: string[];
  /** Columns that the file itself has. */
  ownColumns: number;
  /** What stands above the names of the columns. */
  titles: string[];
  /** Whether there are more records than this below the names. */
  hasMoreThan(records: number): Promise<boolean>;
  records(): AsyncGenerator<CsvRecord>;
}

/**
 * Reads a CSV file, separated by comma, semicolon, tab or |, as spreadsheets write it, or a file of vCards. Other work runs between its pieces,
 * and one record at a time is in memory. Without names of columns, `isPhone` finds the column of the phones. Throws
 * VALIDATION_ERROR for another kind of file, and for too many columns.
 */
export async function readCsvTable(
  bytes: Uint8Array,
  format: CsvFormat = {},
  isPhone: IsPhone = looksLikePhone,
): Promise<CsvTable> {
  const otherFormat = findOtherFormat(bytes);
  if (otherFormat !== undefined) throw invalidField("file", otherFormat, "not_a_table");
  const encoding = format.encoding ?? (await detectCsvEncoding(bytes));
  if (isVcardFile(bytes)) return toVcardTable(bytes, encoding);
  const { separator, head, titles } = await readHead(bytes, encoding, format);
  const delimiter = format.delimiter ?? separator ?? detectDelimiter(head?.text ?? "");
  const cells = readFirstLine(head?.text ?? "", delimiter);
  const isDoubtful = format.hasHead === false || cells.some(looksLikePhone);
  const sample = isDoubtful ? await readSample(bytes, encoding, delimiter, head?.line) : [];
  const hasHead = format.hasHead ?? (!isDoubtful || namesPhones(cells, sample));
  const own = hasHead ? cells : await nameColumns(cells, sample, isPhone);
  const joined = findJoinedColumns(own);
  const columns = [...own, ...joined.flatMap(({ name, at }) => (at === undefined ? [name] : []))];
  const first = head ? head.line + (hasHead ? 1 : 0) : Number.POSITIVE_INFINITY;
  return {
    delimiter,
    encoding,
    hasHead,
    columns,
    ownColumns: own.length,
    titles,
    async hasMoreThan(most) {
      let count = 0;
      for await (const { line } of readCsvTexts(bytes, encoding, delimiter))
        if (line >= first && ++count > most) return true;
      return false;
    },
    async *records() {
      for await (const { line, text } of readCsvTexts(bytes, encoding, delimiter)) {
        if (line < first) continue;
        const place = { line, text: cleanText(text.slice(0, SHOWN)) };
        const found = readCells(text, delimiter, own.length);
        yield typeof found === "string"
          ? { ...place, problem: found }
          : { ...place, cells: joinCells(found, joined, own.length) };
      }
    },
  };
}

/** A column alone has no separators: a comma is that of a float, or stands between two phones. */
function readCells(text: string, delimiter: CsvDelimiter, most: number): string[] | CsvRecordProblem {
  const found = splitCsvRecord(text, delimiter, most, true);
  return found === "cells" && most === 1 && isSpoilt(text) ? [text] : found;
}

function isSpoilt(text: string): boolean {
  const folded = foldPhoneText(text);
  return "code" in folded && SPOILT_PHONE.test(folded.code);
}

function readFirstLine(text: string, delimiter: CsvDelimiter): string[] {
  const cells = splitCsvRecord(text, delimiter, MOST_COLUMNS);
  if (cells === "cells" || cells === "length")
    throw invalidField(
      "file",
      `the first line has more than ${MOST_COLUMNS} columns or ${LONGEST_RECORD} characters. Remove the columns that are not needed`,
      "too_many",
      { max: MOST_COLUMNS },
    );
  return cells === "quotes" ? [] : cells.map((cell) => cell.replace(/\s+/g, " ").trim());
}

/** The contacts of a file of vCards, as a table. */
function toVcardTable(bytes: Uint8Array, encoding: CsvEncoding): CsvTable {
  const columns = ["phone", "name"];
  return {
    delimiter: ",",
    encoding,
    hasHead: true,
    columns,
    ownColumns: columns.length,
    titles: [],
    async hasMoreThan(most) {
      let count = 0;
      for await (const _ of readVcardRecords(bytes, encoding)) if (++count > most) return true;
      return false;
    },
    async *records() {
      for await (const { line, cells } of readVcardRecords(bytes, encoding))
        yield { line, text: cells.join(", ").slice(0, SHOWN), cells };
    },
  };
}

/** As Excel writes a long number, in some languages with a comma. */
const FLOAT = /^ *[+-]?(?:\d{8,},0{2,}|\d(?:[.,]\d+)?e\+?\d{2}) *$/i;

/** Fewer digits may be part of a column's name, such as a year. */
const FEWEST_PHONE_DIGITS = 8;

function looksLikePhone(cell: string): boolean {
  if (FLOAT.test(cell)) return true;
  if ((cell.match(/\p{Nd}/gu)?.length ?? 0) < FEWEST_PHONE_DIGITS) return false;
  const folded = foldPhoneText(cell);
  return !("code" in folded) || SPOILT_PHONE.test(folded.code);
}

const SAMPLED_RECORDS = 20;

/** The cells of the first records from a line on, without those that cannot be read. */
async function readSample(
  bytes: Uint8Array,
  encoding: CsvEncoding,
  delimiter: CsvDelimiter,
  from = 1,
): Promise<string[][]> {
  const sample: (string[] | CsvRecordProblem)[] = [];
  for await (const { line, text } of readCsvTexts(bytes, encoding, delimiter)) {
    if (line >= from) sample.push(splitCsvRecord(text, delimiter, MOST_COLUMNS));
    if (sample.length === SAMPLED_RECORDS) break;
  }
  return sample.filter((cells) => typeof cells !== "string");
}

/** Whether a cell is a phone; undefined if it may have been one, or is several. */
type IsPhone = (cell: string) => boolean | undefined;

/** Whether the first line has the name of a column with phones below: its other names may look like phones. */
function namesPhones(names: readonly string[], sample: readonly (readonly string[])[]): boolean {
  const best = findColumnMeanings(names).indexOf("phone");
  return names.some(
    (name, at) =>
      (at === best || isPhoneName(name)) && sample.some((cells) => looksLikePhone(cells[at] ?? "")),
  );
}

/** The columns of a file whose first line is a record, and that of the sample. */
async function nameColumns(
  cells: readonly string[],
  sample: readonly (readonly string[])[],
  isPhone: IsPhone,
): Promise<string[]> {
  const phone = cells.length === 1 ? 0 : await findPhoneColumn(cells.length, sample, isPhone);
  const email = cells.findIndex((cell, at) => at !== phone && /^[^\s@]+@\S+$/.test(cell));
  const name = cells.findIndex((cell, at) => at !== phone && at !== email && /\p{L}/u.test(cell));
  const names = new Map([
    [name, "name"],
    [email, "email"],
    [phone, "phone"],
  ]);
  return cells.map((_, at) => names.get(at) ?? `column ${at + 1}`);
}

/** The column that has phones alone, or damaged ones, -1 if there is none, or another one has more phones than other texts. */
async function findPhoneColumn(
  columns: number,
  sample: readonly (readonly string[])[],
  isPhone: IsPhone,
): Promise<number> {
  const pause = createPause();
  const shares: number[] = [];
  const spoilt: number[] = [];
  for (let at = 0; at < columns; at++) {
    const texts = sample.flatMap((cells) => cells[at]?.trim() || []);
    const found = texts.flatMap((text) => isPhone(text) ?? []);
    if (texts.length > 0 && texts.every((text) => FLOAT.test(text))) spoilt.push(at);
    shares.push(found.filter(Boolean).length / Math.max(found.length, 1));
    await pause();
  }
  const likely = shares.filter((share) => share > 0.5);
  if (likely.length === 0 && spoilt.length === 1) return spoilt[0] ?? -1;
  return likely.length === 1 ? shares.indexOf(1) : -1;
}

/** What is wrong with a table in which no column is `phone`. */
export function describeMissingPhone({ hasHead }: CsvTable): string {
  if (hasHead) return "the first line has no column named phone, number or whatsapp";
  return `has no names of columns, and not one column alone with phones in its first ${SAMPLED_RECORDS} rows. Name the columns in a first line, such as phone,name, and put one phone in a row`;
}

/** The cells with those of the joined columns. */
function joinCells(cells: readonly string[], joined: readonly JoinedColumn[], own: number): string[] {
  if (joined.length === 0) return [...cells];
  const all = Array.from({ length: own }, (_, at) => cells[at] ?? "");
  for (const { at, read } of joined) all[at ?? all.length] = read(cells);
  return all;
}

/** The error of a record with a problem. */
export function describeCsvProblem(problem: CsvRecordProblem, { ownColumns: max }: CsvTable): ValueIssue {
  if (problem === "quotes")
    return valueIssue("is not a line of CSV: check its quotation marks", "not_a_table");
  if (problem === "length")
    return valueIssue(`is longer than ${LONGEST_RECORD} characters`, "too_long", { max: LONGEST_RECORD });
  return valueIssue(`has more cells than the first line, which has ${max}`, "too_many_cells", { max });
}

interface CsvLine {
  line: number;
  text: string;
}

interface CsvHead {
  /** As the line `sep=;` names it, which Excel reads and writes. */
  separator?: CsvDelimiter;
  head?: CsvLine;
  titles: string[];
}

/** Most lines above the names of the columns. */
const MOST_TITLES = 3;

async function readHead(bytes: Uint8Array, encoding: CsvEncoding, format: CsvFormat): Promise<CsvHead> {
  let separator: CsvDelimiter | undefined;
  const lines: CsvLine[] = [];
  for await (const line of readCsvTexts(bytes, encoding)) {
    const isFirst = separator === undefined && lines.length === 0;
    const sign = isFirst ? /^"?sep=([,;\t|])"?[,;\t|]*$/i.exec(line.text)?.[1] : undefined;
    if (sign === undefined) lines.push(line);
    else separator = sign as CsvDelimiter;
    if (lines.length > MOST_TITLES || format.hasHead === false) break;
  }
  const at = countTitles(lines, ({ text }) => format.delimiter ?? separator ?? detectDelimiter(text));
  const titles = lines.slice(0, at).map(({ text }) => textsOf(text).join(", "));
  return { separator, head: lines[at], titles };
}

function textsOf(line: string): string[] {
  return cleanText(line)
    .split(/[,;\t|]/)
    .map((text) => text.trim())
    .filter((text) => text !== "");
}

/** The lines with fewer texts, and without a phone, above the first one that names a column of phones. */
function countTitles(lines: readonly CsvLine[], delimiterOf: (line: CsvLine) => CsvDelimiter): number {
  let most = 1;
  for (const [at, line] of lines.entries()) {
    const cells = splitCsvRecord(line.text, delimiterOf(line), MOST_COLUMNS, true);
    if (typeof cells === "string" || cells.some(looksLikePhone)) return 0;
    const count = cells.filter((cell) => cell.trim() !== "").length;
    if (findColumnMeanings(cells).includes("phone")) return at === 0 || count > most || most === 1 ? at : 0;
    most = Math.max(most, count);
  }
  return 0;
}

/** The one that occurs most often in the first line, outside of quotes. */
function detectDelimiter(head: string): CsvDelimiter {
  if (FLOAT.test(head)) return ";";
  const unquoted = head.replace(/"[^"]*"/g, "").replace(/\b\d,\d{1,15}e\+?\d\d\b/gi, "");
  const counts = DELIMITERS.map((sign) => ({ sign, count: countOf(sign, unquoted) }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.sign ?? ",";
}
