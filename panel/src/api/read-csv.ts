import { type CsvDelimiter, type CsvEncoding, readCsvTable } from "../../../src/platform/text/csv-table.ts";

export interface CsvChoice {
  /** "": detected. */
  delimiter: CsvDelimiter | "";
  encoding: CsvEncoding | "";
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
  /** Lines that are not valid CSV. */
  broken: readonly { line: number; text: string; fault: "quotes" | "cells" }[];
  delimiter: CsvDelimiter;
  encoding: CsvEncoding;
}

/** Why a file is refused before it is read further. */
export class CsvFault extends Error {
  readonly kind: "too_large" | "too_many_rows" | "empty";

  constructor(kind: CsvFault["kind"]) {
    super(kind);
    this.kind = kind;
  }
}

export const MAX_FILE_BYTES = 16_777_216;
const ROWS_AT_ONCE = 2_000;
const SHOWN = 100;

/** Reads a CSV file as the gateway does, in steps between which the page stays usable. */
export async function readCsv(file: File, choice: CsvChoice, maxRows: number): Promise<CsvFile> {
  if (file.size > MAX_FILE_BYTES) throw new CsvFault("too_large");
  const table = readCsvTable(new Uint8Array(await file.arrayBuffer()), {
    ...(choice.delimiter && { delimiter: choice.delimiter }),
    ...(choice.encoding && { encoding: choice.encoding }),
  });
  const rows: CsvRow[] = [];
  const broken: { line: number; text: string; fault: "quotes" | "cells" }[] = [];
  let count = 0;
  for (const { line, text, cells } of table.records()) {
    if (++count > maxRows) throw new CsvFault("too_many_rows");
    if (cells === undefined) broken.push({ line, text: text.slice(0, SHOWN), fault: "quotes" });
    else if (cells.length > table.columns.length)
      broken.push({ line, text: text.slice(0, SHOWN), fault: "cells" });
    else rows.push({ line, cells: cells.map((cell) => cell.trim()) });
    if (count % ROWS_AT_ONCE === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  if (count === 0) throw new CsvFault("empty");
  const { columns, delimiter, encoding } = table;
  return { name: file.name, columns, rows, broken, delimiter, encoding };
}
