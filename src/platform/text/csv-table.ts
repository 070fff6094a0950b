import { createPause } from "../create-pause.ts";
import { invalidField } from "../gateway-error.ts";
import { cleanText } from "./clean-text.ts";

const DELIMITERS = [",", ";", "\t"] as const;
/** Most columns of a table; spreadsheets of people have fewer. */
const MOST_COLUMNS = 128;
/** Longest record, in characters. */
const LONGEST_RECORD = 65_536;
/** Most lines per record, since a quoted field may have line breaks. */
const MOST_LINES = 20;
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
export type CsvEncoding = "utf-8" | "utf-16le" | "windows-1252";

/** What is not given is detected. */
export interface CsvFormat {
  delimiter?: CsvDelimiter;
  encoding?: CsvEncoding;
}

export interface CsvTable extends Required<CsvFormat> {
  /** The names in the first line, at most 128. */
  columns: string[];
  /** Whether there are more records than this below the first line. */
  hasMoreThan(records: number): Promise<boolean>;
  records(): AsyncGenerator<CsvRecord>;
}

/**
 * Reads a CSV file whose first line names the columns, separated by comma, semicolon or tab. Other work runs between its
 * pieces, and one record at a time is in memory. Throws VALIDATION_ERROR for too many columns.
 */
export async function readCsvTable(bytes: Uint8Array, format: CsvFormat = {}): Promise<CsvTable> {
  const encoding = format.encoding ?? (await detectEncoding(bytes));
  const head = readHead(bytes, encoding);
  const delimiter = format.delimiter ?? detectDelimiter(head);
  const names = splitRecord(head, delimiter, MOST_COLUMNS);
  if (names === "cells" || names === "length")
    throw invalidField(
      "file",
      `the first line has more than ${MOST_COLUMNS} columns or ${LONGEST_RECORD} characters. Remove the columns that are not needed`,
    );
  const columns = names === "quotes" ? [] : names.map((name) => name.trim());
  return {
    delimiter,
    encoding,
    columns,
    async hasMoreThan(most) {
      let count = 0;
      for await (const _ of readTexts(bytes, encoding)) if (++count > most) return true;
      return false;
    },
    async *records() {
      for await (const { line, text } of readTexts(bytes, encoding)) {
        const place = { line, text: text.slice(0, SHOWN) };
        const cells = splitRecord(text, delimiter, columns.length);
        yield typeof cells === "string" ? { ...place, fault: cells } : { ...place, cells };
      }
    },
  };
}

/** What is wrong with a record that has a fault. */
export function describeCsvFault(fault: CsvRecordFault, { columns }: CsvTable): string {
  if (fault === "quotes") return "is not a line of CSV: check its quotation marks";
  if (fault === "length") return `is longer than ${LONGEST_RECORD} characters`;
  return `has more cells than the first line, which has ${columns.length}`;
}

/** UTF-8, or UTF-16 with its mark; otherwise the encoding of Western spreadsheets. */
async function detectEncoding(bytes: Uint8Array): Promise<CsvEncoding> {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
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

function detectDelimiter(head: string): CsvDelimiter {
  const counts = DELIMITERS.map((sign) => ({ sign, count: countOf(sign, head) }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.sign ?? ",";
}

function countOf(sign: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) count += 1;
  return count;
}

/** Reads no further than the longest record reaches. */
function readHead(bytes: Uint8Array, encoding: CsvEncoding): string {
  const longest = bytes.subarray(0, 4 * LONGEST_RECORD + CHUNK_BYTES);
  for (const [head] of readLines(longest, encoding)) if (head !== undefined) return head;
  return "";
}

/** The lines that end in each piece of the file. A longer line than any record is cut. */
function* readLines(bytes: Uint8Array, encoding: CsvEncoding): Generator<string[]> {
  const decoder = new TextDecoder(encoding);
  let rest = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const isLast = at + CHUNK_BYTES >= bytes.length;
    const text = rest + decoder.decode(bytes.subarray(at, at + CHUNK_BYTES), { stream: !isLast });
    // The second sign of a line break may be in the next piece.
    const lines = text.split(isLast ? /\r\n|\n|\r/ : /\r\n|\n|\r(?!$)/);
    rest = isLast ? "" : (lines.pop() ?? "");
    if (rest.length > LONGEST_RECORD) rest = rest.slice(0, LONGEST_RECORD) + rest.slice(-1);
    yield lines;
  }
}

/** The records below the first line. A quote that never closes ends with its line. */
async function* readTexts(
  bytes: Uint8Array,
  encoding: CsvEncoding,
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
    const count = line === 1 ? 1 : countLines(lines, at);
    const text = lines.slice(at, at + count).join("\n");
    if (line > 1 && text.trim() !== "") {
      await pause();
      yield { line, text };
    }
    at += count;
    line += count;
  }
}

/** A record continues while a quote is open. */
function countLines(lines: readonly string[], at: number): number {
  let quotes = 0;
  let length = 0;
  for (let count = 1; count <= MOST_LINES && at + count <= lines.length; count++) {
    const line = lines[at + count - 1] ?? "";
    quotes += countOf('"', line);
    length += line.length;
    if (quotes % 2 === 0) return count;
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
    cells.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    at = end + 1;
  }
  return cells;
}

/** The position behind the cell; undefined if its quotes are wrong. */
function endOfCell(text: string, at: number, delimiter: string): number | undefined {
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
