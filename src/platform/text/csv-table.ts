import { createPause } from "../create-pause.ts";
import { invalidField } from "../gateway-error.ts";
import { foldPhoneText } from "../phone/fold-phone-text.ts";
import { cleanText } from "./clean-text.ts";
import { replaceHighControls } from "./decode-text.ts";
import { findJoinedColumns, type JoinedColumn } from "./find-joined-columns.ts";
import { findOtherFormat } from "./find-other-format.ts";
import { isVcardFile, readVcardRecords } from "./read-vcard-records.ts";
import { unmarkFormulas } from "./to-csv-line.ts";

const DELIMITERS = [",", ";", "\t", "|"] as const;
/** Most columns of a table; spreadsheets of people have fewer. */
const MOST_COLUMNS = 128;
/** Longest record, in characters. */
const LONGEST_RECORD = 65_536;
/** Most lines per record, since a quoted field may have line breaks. */
const MOST_LINES = 2_000;
const CHUNK_BYTES = 65_536;
const SHOWN = 100;

/** Why a record cannot be read. */
export type CsvRecordFault = "quotes" | "cells" | "length";

interface CsvPlace {
  /** Line of the file, from 1. */
  line: number;
  /** The first 100 characters. */
  text: string;
}

/** Has at most one cell for each column. */
export type CsvRecord = CsvPlace &
  ({ cells: string[]; fault?: never } | { cells?: never; fault: CsvRecordFault });

export type CsvDelimiter = (typeof DELIMITERS)[number];
export type CsvEncoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

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
  const encoding = format.encoding ?? (await detectEncoding(bytes));
  if (isVcardFile(bytes)) return toVcardTable(bytes, encoding);
  const { separator, head } = await readHead(bytes, encoding);
  const delimiter = format.delimiter ?? separator ?? detectDelimiter(head?.text ?? "");
  const names = splitRecord(head?.text ?? "", delimiter, MOST_COLUMNS);
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
      for await (const { line } of readTexts(bytes, encoding, delimiter))
        if (line >= first && ++count > most) return true;
      return false;
    },
    async *records() {
      for await (const { line, text } of readTexts(bytes, encoding, delimiter)) {
        if (line < first) continue;
        const place = { line, text: cleanText(text.slice(0, SHOWN)) };
        const found = splitRecord(text, delimiter, own.length);
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

/** UTF-8 or UTF-16; otherwise the encoding of Western spreadsheets. */
async function detectEncoding(bytes: Uint8Array): Promise<CsvEncoding> {
  const wide = detectUtf16(bytes);
  if (wide) return wide;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const pause = createPause();
  try {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      decoder.decode(bytes.subarray(at, at + CHUNK_BYTES), { stream: at + CHUNK_BYTES < bytes.length });
      await pause();
    }
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}

const SAMPLED_BYTES = 1_024;

/** By its mark, or by the zeros in every other byte of digits and Latin letters. */
function detectUtf16(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const zeros: [number, number] = [0, 0];
  const sample = bytes.subarray(0, SAMPLED_BYTES);
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2 === 0 ? 0 : 1] += 1;
  const [even, odd] = zeros;
  if (Math.max(even, odd) <= sample.length / 4 || Math.min(even, odd) > 0) return undefined;
  return odd > even ? "utf-16le" : "utf-16be";
}

function detectDelimiter(head: string): CsvDelimiter {
  const unquoted = head.replace(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((sign) => ({ sign, count: countOf(sign, unquoted) }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.sign ?? ",";
}

function countOf(sign: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) count += 1;
  return count;
}

interface CsvHead {
  /** As the line `sep=;` names it, which Excel reads and writes. */
  separator?: CsvDelimiter;
  head?: { line: number; text: string };
}

async function readHead(bytes: Uint8Array, encoding: CsvEncoding): Promise<CsvHead> {
  let separator: CsvDelimiter | undefined;
  for await (const head of readTexts(bytes, encoding)) {
    const sign = separator === undefined ? /^"?sep=([,;\t|])"?[,;\t|]*$/i.exec(head.text)?.[1] : undefined;
    if (sign === undefined) return { separator, head };
    separator = sign as CsvDelimiter;
  }
  return { separator };
}

/** The lines that end in each piece of the file. A longer line than any record is cut. */
function* readLines(bytes: Uint8Array, encoding: CsvEncoding): Generator<string[]> {
  const decoder = new TextDecoder(encoding);
  let rest = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const isLast = at + CHUNK_BYTES >= bytes.length;
    const piece = decoder.decode(bytes.subarray(at, at + CHUNK_BYTES), { stream: !isLast });
    const text = rest + (encoding === "windows-1252" ? replaceHighControls(piece) : piece);
    // The second sign of a line break may be in the next piece.
    const lines = text.split(isLast ? /\r\n|\n|\r/ : /\r\n|\n|\r(?!$)/);
    rest = isLast ? "" : (lines.pop() ?? "");
    if (rest.length > LONGEST_RECORD) rest = rest.slice(0, LONGEST_RECORD) + rest.slice(-1);
    yield lines;
  }
}

/** The records that are not empty. A quote that never closes, or not at the end of a cell, ends with its line. */
async function* readTexts(
  bytes: Uint8Array,
  encoding: CsvEncoding,
  delimiter?: CsvDelimiter,
): AsyncGenerator<{ line: number; text: string }> {
  const pause = createPause();
  const pieces = readLines(bytes, encoding);
  let lines: string[] = [];
  let isWhole = false;
  for (let at = 0, line = 1; !isWhole || at < lines.length; ) {
    if (!isWhole && lines.length - at < MOST_LINES) {
      const { value = [], done = false } = pieces.next();
      lines = [...lines.slice(at), ...value];
      at = 0;
      isWhole = done;
      await pause();
      continue;
    }
    const count = countLines(lines, at, delimiter);
    const text = lines.slice(at, at + count).join("\n");
    if (!EMPTY.test(text)) {
      await pause();
      yield { line, text };
    }
    at += count;
    line += count;
  }
}

/** Nothing but separators. */
const EMPTY = /^[\s,;|"]*$/;

/** A record continues while a quote is open. */
function countLines(lines: readonly string[], at: number, delimiter?: CsvDelimiter): number {
  let quotes = 0;
  let length = 0;
  for (let count = 1; count <= MOST_LINES && at + count <= lines.length; count++) {
    const line = lines[at + count - 1] ?? "";
    quotes += countOf('"', line);
    length += line.length;
    if (quotes % 2 === 0) {
      const record = lines.slice(at, at + count).join("\n");
      const isOne = count === 1 || !delimiter || splitRecord(record, delimiter, MOST_COLUMNS) !== "quotes";
      return isOne ? count : 1;
    }
    if (length > LONGEST_RECORD) break;
  }
  return 1;
}

/** The cells of a record, or why it has none. */
function splitRecord(record: string, delimiter: string, most: number): string[] | CsvRecordFault {
  if (record.length > LONGEST_RECORD) return "length";
  const text = cleanText(record);
  const cells: string[] = [];
  for (let at = 0; at <= text.length; ) {
    if (cells.length === most) return "cells";
    const end = endOfCell(text, at, delimiter);
    if (end === undefined) return "quotes";
    const cell = text.slice(at, end);
    const content = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
    cells.push(TEXT_FORMULA.exec(content)?.[1]?.replaceAll('""', '"') ?? unmarkFormulas(content));
    at = end + 1;
  }
  return cells;
}

/** How some programs write a text, so that a spreadsheet leaves it as it is. */
const TEXT_FORMULA = /^="((?:[^"]|"")*)"$/;

/** The position behind the cell; undefined if its quotes are wrong. */
function endOfCell(text: string, from: number, delimiter: string): number | undefined {
  const at = text.startsWith('="', from) ? from + 1 : from;
  if (text[at] !== '"') {
    const next = text.indexOf(delimiter, at);
    const end = next < 0 ? text.length : next;
    return text.slice(at, end).includes('"') ? undefined : end;
  }
  let quote = text.indexOf('"', at + 1);
  while (quote >= 0 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2);
  const end = quote + 1;
  return quote >= 0 && (end === text.length || text[end] === delimiter) ? end : undefined;
}
