import type { CsvFile } from "./read-csv.ts";

/** The file with another text in one cell. */
export function correctCell(csv: CsvFile, line: number, column: number, text: string): CsvFile {
  const rows = csv.rows.map((row) => {
    if (row.line !== line) return row;
    const cells = Array.from({ length: Math.max(row.cells.length, column + 1) }, (_, at) =>
      at === column ? text : (row.cells[at] ?? ""),
    );
    return { line, cells };
  });
  return { ...csv, rows };
}
