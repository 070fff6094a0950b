import {
  findColumnMeanings,
  findVariableNames,
} from "../../../../../src/platform/text/find-column-meanings.ts";
import type { LocalProblem } from "../../../components/csv/number-check.tsx";
import type { CsvFile } from "../../../components/csv/read-csv.ts";
import type { PickedRecipient } from "./campaign-draft.ts";

/** Column indexes by meaning. */
export interface CsvMapping {
  phone: number | undefined;
  variables: readonly number[];
}

const SAMPLE_ROWS = 20;

/** Finds the number column by its name, otherwise as the only column whose cells look like numbers. */
export function guessMapping({ columns, rows }: CsvFile): CsvMapping {
  const byName = findColumnMeanings(columns).indexOf("phone");
  const sample = rows.slice(0, SAMPLE_ROWS);
  const byCells = columns.flatMap((_, at) =>
    sample.length > 0 && sample.every(({ cells }) => looksLikePhone(cells[at] ?? "")) ? [at] : [],
  );
  const phone = byName >= 0 ? byName : byCells.length === 1 ? byCells[0] : undefined;
  const names = findVariableNames(columns);
  const variables = columns.flatMap((_, at) => (at === phone || names[at] === undefined ? [] : [at]));
  return { phone, variables };
}

function looksLikePhone(text: string): boolean {
  return /^[+()\d .-]{8,24}$/.test(text) && text.replace(/\D/g, "").length >= 8;
}

/** Splits a file into recipients and lines without a number. */
export function pickFromCsv(
  { columns, rows, broken }: CsvFile,
  { phone, variables }: CsvMapping,
): { recipients: readonly PickedRecipient[]; problems: readonly LocalProblem[] } {
  const problems: LocalProblem[] = broken.map(({ line, text, problem }) => ({
    line,
    value: text,
    problem,
  }));
  if (phone === undefined) return { recipients: [], problems };
  const recipients: PickedRecipient[] = [];
  for (const { line, cells } of rows) {
    const number = cells[phone] ?? "";
    if (number === "") problems.push({ line, value: cells.join(", ").slice(0, 100), problem: "missing" });
    else recipients.push({ line, phone: number, variables: toVariables(columns, cells, variables) });
  }
  return { recipients, problems };
}

function toVariables(columns: readonly string[], cells: readonly string[], chosen: readonly number[]) {
  const names = findVariableNames(columns);
  const nameOf = (at: number) => names[at] ?? (columns[at] ?? "").toLowerCase();
  return Object.fromEntries(chosen.map((at) => [nameOf(at), cells[at] ?? ""]));
}
