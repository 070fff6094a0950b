import type { CsvEncoding } from "../../../../src/platform/text/csv-decoder.ts";
import { type CsvDelimiter, readCsvTable } from "../../../../src/platform/text/csv-table.ts";
import { findOtherFormat } from "../../../../src/platform/text/find-other-format.ts";
import type { CsvRecordProblem } from "../../../../src/platform/text/read-csv-texts.ts";

export interface CsvChoice {
  /** "" detects it. */
  delimiter: CsvDelimiter | "";
  encoding: CsvEncoding | "";
  /** Whether the first line is a header; "" detects it. */
  head: "names" | "entry" | "";
}

export interface CsvRow {
  /** Line of the file, from 1. */
  line: number;
  cells: readonly string[];
}

export interface CsvFile {
  name: string;
  columns: readonly string[];
  rows: readonly CsvRow[];
  broken: readonly { line: number; text: string; problem: CsvRecordProblem }[];
  delimiter: CsvDelimiter;
  encoding: CsvEncoding;
  hasHead: boolean;
}

/** Why a file is rejected as a whole. */
export class CsvError extends Error {
  readonly kind: "too_large" | "other_format" | "too_many_columns" | "too_many_rows" | "empty";

  constructor(kind: CsvError["kind"]) {
    super(kind);
    this.kind = kind;
  }
}

export const MAX_FILE_BYTES = 16_777_216;

/** Reads a CSV file as the gateway does, without blocking the page. */
export async function readCsv(file: File, choice: CsvChoice, maxRows: number): Promise<CsvFile> {
  if (file.size > MAX_FILE_BYTES) throw new CsvError("too_large");
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (findOtherFormat(bytes) !== undefined) throw new CsvError("other_format");
  const table = await readCsvTable(bytes, {
    ...(choice.delimiter && { delimiter: choice.delimiter }),
    ...(choice.encoding && { encoding: choice.encoding }),
    ...(choice.head && { hasHead: choice.head === "names" }),
  }).catch(() => {
    throw new CsvError("too_many_columns");
  });
  const rows: CsvRow[] = [];
  const broken: { line: number; text: string; problem: CsvRecordProblem }[] = [];
  for await (const { line, text, cells, problem } of table.records()) {
    if (rows.length + broken.length === maxRows) throw new CsvError("too_many_rows");
    if (problem) broken.push({ line, text, problem });
    else rows.push({ line, cells: cells.map((cell) => cell.trim()) });
  }
  if (rows.length + broken.length === 0) throw new CsvError("empty");
  const { columns, delimiter, encoding, hasHead } = table;
  return { name: file.name, columns, rows, broken, delimiter, encoding, hasHead };
}
