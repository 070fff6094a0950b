import { stringify } from "csv-stringify/sync";

const FORMULA = /^[\s\p{Cc}]*[=+\-@＝＋－＠]/u;
const MARKED = /^'(?:[\s\p{Cc}]*[=+\-@＝＋－＠]|\t)/u;

/** One line of CSV. A `'` marks a cell as text if a spreadsheet would read it as a formula. */
export function toCsvLine(cells: readonly string[]): string {
  const shown = cells.map((cell) => cell.replace(/[\r\n]+/g, " "));
  return stringify([shown.map((cell) => (FORMULA.test(cell) ? `'${cell}` : cell))], {
    escape_formulas: true,
  });
}

/** The cell's text without that mark. */
export function unescapeFormulaCell(cell: string): string {
  return MARKED.test(cell) ? cell.slice(1) : cell;
}
