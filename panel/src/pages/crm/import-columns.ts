import {
  type ColumnMeaning,
  findColumnMeanings,
  LEAD_COLUMNS,
} from "../../../../src/platform/text/find-column-meanings.ts";
import type { CheckedNumber, LocalProblem } from "../../components/csv/number-check.tsx";
import type { CsvFile } from "../../components/csv/read-csv.ts";
import type { Table } from "../../components/csv/to-csv.ts";

/** Targets of a column besides custom fields. Only the gateway's own exports contain `id`. */
export const COLUMNS = [
  "phone",
  "name",
  "email",
  "status",
  "kanban_status",
  "tags",
  "opted_out",
  "id",
] as const satisfies readonly ColumnMeaning[];

/** Guesses each column by its name; "" leaves it out. */
export function guessColumns(columns: readonly string[], fields: readonly string[]): string[] {
  const taken = new Set<string>();
  const meanings = findColumnMeanings(columns);
  return columns.map((name, at) => {
    const bare = name.replace(/^custom_fields\./, "");
    const target = meanings[at] ?? (bare !== name || fields.includes(bare) ? `custom_fields.${bare}` : "");
    if (target === "" || taken.has(target)) return "";
    taken.add(target);
    return target;
  });
}

/** Renames the chosen columns for the gateway. An export keeps its ids. */
export function toImportTable({ columns, rows }: CsvFile, targets: readonly string[]): Table {
  const picked = targets.flatMap((target, at) => (target === "" ? [] : [{ target, at }]));
  const others = targets.includes("id") ? LEAD_COLUMNS.filter((name) => !targets.includes(name)) : [];
  const chosen = [
    ...picked,
    ...others.map((target) => ({ target, at: target === "created_at" ? columns.indexOf(target) : -1 })),
  ];
  return {
    columns: chosen.map(({ target }) => target),
    rows: rows.map(({ cells }) => chosen.map(({ at }) => cells[at] ?? "")),
  };
}

/** Maps a line of the uploaded table to the line in the file, where a row may span lines. */
export function createLineFinder(csv: CsvFile, targets: readonly string[]): (line: number) => number {
  const lines = new Map<number, number>();
  let next = 2;
  for (const [at, row] of toImportTable(csv, targets).rows.entries()) {
    lines.set(next, csv.rows[at]?.line ?? next);
    next += row.join("\n").split("\n").length - row.length + 1;
  }
  return (line) => lines.get(line) ?? line;
}

/** The numbers of a file, and its lines without a number or contact. */
export function pickNumbers({ rows, broken }: CsvFile, targets: readonly string[]) {
  const problems: LocalProblem[] = broken.map(({ line, text, problem }) => ({
    line,
    value: text,
    problem,
  }));
  const numbers: CheckedNumber[] = [];
  for (const { line, cells } of rows) {
    const phone = cells[targets.indexOf("phone")] ?? "";
    const hasId = (cells[targets.indexOf("id")] ?? "") !== "";
    if (phone !== "") numbers.push({ line, phone });
    else if (!hasId) problems.push({ line, value: cells.join(", ").slice(0, 100), problem: "missing" });
  }
  return { numbers, problems };
}
