import { parse } from "csv-parse/sync";
import { cleanJson } from "./clean-text.ts";

const DELIMITERS = [",", ";", "\t"] as const;

export interface CsvRecord {
  /** Line of the file, from 1. */
  line: number;
  text: string;
  /** Undefined if the record is not valid CSV. */
  cells: string[] | undefined;
}

export type CsvDelimiter = (typeof DELIMITERS)[number];
export type CsvEncoding = "utf-8" | "utf-16le" | "windows-1252";

/** What is not given is detected. */
export interface CsvFormat {
  delimiter?: CsvDelimiter;
  encoding?: CsvEncoding;
}

export interface CsvTable extends Required<CsvFormat> {
  /** The names in the first line. */
  columns: string[];
  /** Number of records below the first line. */
  count(): number;
  records(): Generator<CsvRecord>;
}

/** Parses a CSV file whose first line names the columns, separated by comma, semicolon or tab. */
export function readCsvTable(bytes: Uint8Array, format: CsvFormat = {}): CsvTable {
  const encoding = format.encoding ?? encodingOf(bytes);
  const lines = new TextDecoder(encoding).decode(bytes).split(/\r\n|\n|\r/);
  const delimiter = format.delimiter ?? delimiterOf(lines[0] ?? "");
  return {
    delimiter,
    encoding,
    columns: parseRecord(lines[0] ?? "", delimiter)?.map((name) => name.trim()) ?? [],
    count: () => countOf(split(lines)),
    *records() {
      for (const { line, text } of split(lines)) yield { line, text, cells: parseRecord(text, delimiter) };
    },
  };
}

function countOf(items: Iterable<unknown>): number {
  let count = 0;
  for (const _ of items) count += 1;
  return count;
}

/** UTF-8, or UTF-16 with its mark; otherwise the encoding of Western spreadsheets. */
function encodingOf(bytes: Uint8Array): CsvEncoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}

function delimiterOf(header: string): CsvDelimiter {
  const counts = DELIMITERS.map((sign) => ({ sign, count: header.split(sign).length }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.sign ?? ",";
}

/** A record continues while a quote is open; a quote that never closes ends with its line. */
function* split(lines: readonly string[]): Generator<{ line: number; text: string }> {
  for (let at = 1; at < lines.length; ) {
    const consumed = linesOfRecord(lines, at);
    const text = lines.slice(at, at + consumed).join("\n");
    if (text.trim() !== "") yield { line: at + 1, text };
    at += consumed;
  }
}

/** Most lines per record, since a quoted field may have line breaks. */
const LONGEST_RECORD = 20;

function linesOfRecord(lines: readonly string[], at: number): number {
  let quotes = 0;
  for (let consumed = 1; consumed <= LONGEST_RECORD && at + consumed <= lines.length; consumed++) {
    quotes += (lines[at + consumed - 1] ?? "").split('"').length - 1;
    if (quotes % 2 === 0) return consumed;
  }
  return 1;
}

function parseRecord(text: string, delimiter: string): string[] | undefined {
  if (!text.includes('"')) return cleanJson(text.split(delimiter));
  try {
    const [cells] = parse(text, { delimiter, relax_column_count: true }) as string[][];
    return cells && cleanJson(cells);
  } catch {
    return undefined;
  }
}
