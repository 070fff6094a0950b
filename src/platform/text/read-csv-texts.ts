import { createPause } from "../create-pause.ts";
import { cleanText } from "./clean-text.ts";
import { type CsvEncoding, createCsvDecoder } from "./csv-decoder.ts";
import { unmarkFormulas } from "./to-csv-line.ts";

/** Most columns of a table; spreadsheets of people have fewer. */
export const MOST_COLUMNS = 128;
/** Longest record, in characters. */
export const LONGEST_RECORD = 65_536;
/** Most lines per record, since a quoted field may have line breaks. */
const MOST_LINES = 2_000;
const CHUNK_BYTES = 65_536;

/** Why a record cannot be read. */
export type CsvRecordProblem = "quotes" | "cells" | "length";

/** The records that are not empty. A quote that never closes, or not at the end of a cell, ends with its line. */
export async function* readCsvTexts(
  bytes: Uint8Array,
  encoding: CsvEncoding,
  delimiter?: string,
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
function countLines(lines: readonly string[], at: number, delimiter?: string): number {
  let quotes = 0;
  let length = 0;
  for (let count = 1; count <= MOST_LINES && at + count <= lines.length; count++) {
    const line = lines[at + count - 1] ?? "";
    quotes += countOf('"', line);
    length += line.length;
    if (quotes % 2 === 0) {
      const record = lines.slice(at, at + count).join("\n");
      const isOne = count === 1 || !delimiter || splitCsvRecord(record, delimiter, MOST_COLUMNS) !== "quotes";
      return isOne ? count : 1;
    }
    if (length > LONGEST_RECORD) break;
  }
  return 1;
}

/** The lines that end in each piece of the file. A longer line than any record is cut. */
function* readLines(bytes: Uint8Array, encoding: CsvEncoding): Generator<string[]> {
  const decode = createCsvDecoder(encoding);
  let rest = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const isLast = at + CHUNK_BYTES >= bytes.length;
    const text = rest + decode(bytes.subarray(at, at + CHUNK_BYTES), isLast);
    // The second sign of a line break may be in the next piece.
    const lines = text.split(isLast ? /\r\n|\n|\r/ : /\r\n|\n|\r(?!$)/);
    rest = isLast ? "" : (lines.pop() ?? "");
    if (rest.length > LONGEST_RECORD) rest = rest.slice(0, LONGEST_RECORD) + rest.slice(-1);
    yield lines;
  }
}

/** The cells of a record, or its problem. More cells than `most` are one; with `dropsEmpty`, only if they have a text. */
export function splitCsvRecord(
  record: string,
  delimiter: string,
  most: number,
  dropsEmpty = false,
): string[] | CsvRecordProblem {
  if (record.length > LONGEST_RECORD) return "length";
  const text = cleanText(record);
  const cells: string[] = [];
  for (let at = 0; at <= text.length; ) {
    if (cells.length === most) return dropsEmpty && EMPTY.test(text.slice(at)) ? cells : "cells";
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

/** How often the sign occurs. */
export function countOf(sign: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) count += 1;
  return count;
}
