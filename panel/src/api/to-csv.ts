export interface Table {
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
}

/** CSV by RFC 4180, with a byte order mark so that spreadsheets read UTF-8. */
export function toCsv({ columns, rows }: Table): string {
  return `\uFEFF${[columns, ...rows].map((row) => row.map(toCell).join(",")).join("\r\n")}\r\n`;
}

function toCell(value: unknown): string {
  const text =
    value === null || value === undefined
      ? ""
      : typeof value === "object"
        ? JSON.stringify(value)
        : String(value);
  // A spreadsheet would run such a text as a formula.
  const safe =
    typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !/^\+?\d+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
