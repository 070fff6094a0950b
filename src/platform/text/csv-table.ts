import { invalidField } from "../gateway-error.ts";
import { foldPhoneText } from "../phone/fold-phone-text.ts";
import { cleanText } from "./clean-text.ts";
import { detectCsvEncoding } from "./detect-csv-encoding.ts";
import { findJoinedColumns, type JoinedColumn } from "./find-joined-columns.ts";
import { findOtherFormat } from "./find-other-format.ts";
import {
  type CsvEncoding,
  type CsvRecordFault,
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
  ({ cells: string[]; fault?: never } | { cells?: never; fault: CsvRecordFault });

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
   * such a line: `phone`, `name` and `email` by the first record, and `column 4` and so on for the others.
   */
  columns: string[];
  /** Columns that the file itself has. */
  ownColumns: number;
  /** Whether there are more records than this below the names. */
  hasMoreThan(records: number): Promise<boolean>;
  records(): AsyncGenerator<CsvRecord>;
}

/**
 * Reads a CSV file, separated by comma, semicolon, tab or |, as spreadsheets write it, or a file of vCards. Other work runs between its pieces,
 * and one record at a time is in memory. Throws VALIDATION_ERROR for another kind of file, and for too many columns.
 */
export async function readCsvTable(bytes: Uint8Array, format: CsvFormat = {}): Promise<CsvTable> {
  const otherFormat = findOtherFormat(bytes);
  if (otherFormat !== undefined) throw invalidField("file", otherFormat);
  const encoding = format.encoding ?? (await detectCsvEncoding(bytes));
  if (isVcardFile(bytes)) return toVcardTable(bytes, encoding);
  const { separator, head } = await readHead(bytes, encoding);
  const delimiter = format.delimiter ?? separator ?? detectDelimiter(head?.text ?? "");
  const names = splitCsvRecord(head?.text ?? "", delimiter, MOST_COLUMNS);
  if (names === "cells" || names === "length")
    throw invalidField(
      "file",
      `the first line has more than ${MOST_COLUMNS} columns or ${LONGEST_RECORD} characters. Remove the columns that are not needed`,
    );
  const cells = names === "quotes" ? [] : names.map((name) => name.replace(/\s+/g, " ").trim());
  const hasHead = format.hasHead ?? !cells.some(isPhone);
  const own = hasHead ? cells : nameColumns(cells);
  const joined = findJoinedColumns(own);
  const columns = [...own, ...joined.flatMap(({ name, at }) => (at === undefined ? [name] : []))];
  const first = head ? head.line + (hasHead ? 1 : 0) : Number.POSITIVE_INFINITY;
  return {
    delimiter,
    encoding,
    hasHead,
    columns,
    ownColumns: own.length,
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
        const found = splitCsvRecord(text, delimiter, own.length);
        yield typeof found === "string"
          ? { ...place, fault: found }
          : { ...place, cells: joinCells(found, joined, own.length) };
      }
    },
  };
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

/** Fewer digits may be part of a column's name, such as a year. */
const FEWEST_PHONE_DIGITS = 8;

function isPhone(cell: string): boolean {
  if ((cell.match(/\p{Nd}/gu)?.length ?? 0) < FEWEST_PHONE_DIGITS) return false;
  const folded = foldPhoneText(cell);
  return !("code" in folded) || /^(?:changed_by_spreadsheet|several_numbers)$/.test(folded.code);
}

/** The columns of a file whose first line is a record. */
function nameColumns(cells: readonly string[]): string[] {
  const phone = Math.max(cells.findIndex(isPhone), 0);
  const email = cells.findIndex((cell, at) => at !== phone && /^[^\s@]+@\S+$/.test(cell));
  const name = cells.findIndex((cell, at) => at !== phone && at !== email && /\p{L}/u.test(cell));
  const names = new Map([
    [name, "name"],
    [email, "email"],
    [phone, "phone"],
  ]);
  return cells.map((_, at) => names.get(at) ?? `column ${at + 1}`);
}

/** The cells with those of the joined columns. */
function joinCells(cells: readonly string[], joined: readonly JoinedColumn[], own: number): string[] {
  if (joined.length === 0) return [...cells];
  const all = Array.from({ length: own }, (_, at) => cells[at] ?? "");
  for (const { at, read } of joined) all[at ?? all.length] = read(cells);
  return all;
}

/** What is wrong with a record that has a fault. */
export function describeCsvFault(fault: CsvRecordFault, { ownColumns }: CsvTable): string {
  if (fault === "quotes") return "is not a line of CSV: check its quotation marks";
  if (fault === "length") return `is longer than ${LONGEST_RECORD} characters`;
  return `has more cells than the first line, which has ${ownColumns}`;
}

interface CsvHead {
  /** As the line `sep=;` names it, which Excel reads and writes. */
  separator?: CsvDelimiter;
  head?: { line: number; text: string };
}

async function readHead(bytes: Uint8Array, encoding: CsvEncoding): Promise<CsvHead> {
  let separator: CsvDelimiter | undefined;
  for await (const head of readCsvTexts(bytes, encoding)) {
    const sign = separator === undefined ? /^"?sep=([,;\t|])"?[,;\t|]*$/i.exec(head.text)?.[1] : undefined;
    if (sign === undefined) return { separator, head };
    separator = sign as CsvDelimiter;
  }
  return { separator };
}

/** The one that occurs most often in the first line, outside of quotes. */
function detectDelimiter(head: string): CsvDelimiter {
  const unquoted = head.replace(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((sign) => ({ sign, count: countOf(sign, unquoted) }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.sign ?? ",";
}
