import { parse } from "csv-parse/sync";
import { cleanJson } from "./clean-text.ts";

export interface CsvRecord {
  /** Of the file, from 1. */
  line: number;
  text: string;
  /** Undefined for what is no CSV. */
  cells: string[] | undefined;
}

export interface CsvTable {
  /** As the first line names them. */
  columns: string[];
  /** Records below the first line. */
  count(): number;
  records(): Generator<CsvRecord>;
}

/** Reads a CSV file with names of columns in its first line, separated by comma, semicolon or tab. */
export function readCsvTable(bytes: Uint8Array): CsvTable {
  const lines = decode(bytes).split(/\r\n|\n|\r/);
  const delimiter = delimiterOf(lines[0] ?? "");
  return {
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

/** UTF-8, else what spreadsheets write in the west. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function delimiterOf(header: string): string {
  const counts = [",", ";", "\t"].map((sign) => ({ sign, count: header.split(sign).length }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.sign ?? ",";
}

/** A record goes on as long as a quote is open; a quote that is never closed ends with its line. */
function* split(lines: readonly string[]): Generator<{ line: number; text: string }> {
  for (let at = 1; at < lines.length; ) {
    const taken = linesOfRecord(lines, at);
    const text = lines.slice(at, at + taken).join("\n");
    if (text.trim() !== "") yield { line: at + 1, text };
    at += taken;
  }
}

/** Lines that one record may take, a quoted field having line breaks. */
const LONGEST_RECORD = 20;

function linesOfRecord(lines: readonly string[], at: number): number {
  let quotes = 0;
  for (let taken = 1; taken <= LONGEST_RECORD && at + taken <= lines.length; taken++) {
    quotes += (lines[at + taken - 1] ?? "").split('"').length - 1;
    if (quotes % 2 === 0) return taken;
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
