/** Behind each sign at which a spreadsheet may split a line. */
const FIELD_STARTS = /(?<=[,;|\t\r\n])/;
/** Signs and quotes that a spreadsheet passes over, and the beginning of a formula. A number with a sign is none. */
const FORMULA = /^[\s\p{Cc}"']*(?:[=@＝＋－＠]|[+-](?!\d+(?:\.\d+)?[,;|\t\r\n]?$))/u;

/**
 * The text with a `'` before each part that a spreadsheet would read as a formula, so that it reads it as text. Parts
 * begin behind every sign that separates cells somewhere.
 */
export function markFormulas(text: string): string {
  return changeFields(text, (field) => (FORMULA.test(field) ? `'${field}` : field));
}

/** The text before `markFormulas`. */
export function unmarkFormulas(text: string): string {
  return changeFields(text, (field) =>
    field.startsWith("'") && FORMULA.test(field.slice(1)) ? field.slice(1) : field,
  );
}

function changeFields(text: string, change: (field: string) => string): string {
  return text.split(FIELD_STARTS).map(change).join("");
}

/** The text of one cell of a CSV file, with formulas marked. */
export function toCsvCell(text: string): string {
  const marked = markFormulas(text);
  return /[",\r\n]/.test(marked) ? `"${marked.replaceAll('"', '""')}"` : marked;
}

/** One record of a CSV file, with formulas marked. */
export function toCsvLine(cells: readonly string[]): string {
  return `${cells.map(toCsvCell).join(",")}\n`;
}

/** More columns than spreadsheets support. */
const MOST_NAMES = 1_000;
/** How many names to read, so that `namedColumns` knows whether there are more than it gives columns. */
export const NAMES_READ = MOST_NAMES + 1;

/**
 * The columns of values that each row names itself: one for each of the first names, 1,000 at most, behind the prefix, such as
 * `variables.`. If there are more names, a last one without the dot has the other values of a row, as JSON.
 */
export function namedColumns(prefix: string, names: readonly string[], most = MOST_NAMES) {
  const own = names.slice(0, most);
  const isOwn = new Set(own);
  const hasOthers = names.length > own.length;
  return {
    heads: [...own.map((name) => prefix + name), ...(hasOthers ? [prefix.replace(/\.$/, "")] : [])],
    cellsOf(values: Readonly<Record<string, unknown>>): string[] {
      const cells = own.map((name) => (Object.hasOwn(values, name) ? String(values[name]) : ""));
      const others = Object.entries(values).filter(([name]) => !isOwn.has(name));
      return hasOthers ? [...cells, JSON.stringify(Object.fromEntries(others))] : cells;
    },
  };
}
