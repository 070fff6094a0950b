import type { CsvFile } from "../../api/read-csv.ts";
import type { Table } from "../../api/to-csv.ts";

/** What a column of a file can be; besides, it can be a custom field. */
export const COLUMNS = [
  "phone",
  "name",
  "email",
  "status",
  "kanban_status",
  "tags",
  "opted_out",
  "id",
] as const;
type Column = (typeof COLUMNS)[number];

const NAMES: Readonly<Record<Column, readonly string[]>> = {
  phone: ["phone", "number", "whatsapp", "telefone", "celular", "teléfono", "telefono", "móvil", "movil"],
  name: ["name", "nome", "nombre"],
  email: ["email", "e-mail", "correo"],
  status: ["status"],
  kanban_status: ["kanban_status", "stage", "etapa"],
  tags: ["tags", "etiquetas"],
  opted_out: ["opted_out"],
  id: ["id"],
};

/** The meaning of each column by its name; "": left out. */
export function guessColumns(columns: readonly string[], fields: readonly string[]): string[] {
  const taken = new Set<string>();
  return columns.map((name) => {
    const lower = name.toLowerCase();
    const bare = name.replace(/^custom_fields\./, "");
    const known = COLUMNS.find((column) => NAMES[column].includes(lower));
    const target = known ?? (bare !== name || fields.includes(bare) ? `custom_fields.${bare}` : "");
    if (target === "" || taken.has(target)) return "";
    taken.add(target);
    return target;
  });
}

/** The chosen columns of a file under the names of the gateway. */
export function toImportTable({ rows }: CsvFile, targets: readonly string[]): Table {
  const chosen = targets.flatMap((target, at) => (target === "" ? [] : [{ target, at }]));
  return {
    columns: chosen.map(({ target }) => target),
    // A line break inside a cell would shift the lines of the gateway's report.
    rows: rows.map(({ cells }) => chosen.map(({ at }) => onOneLine(cells[at] ?? ""))),
  };
}

function onOneLine(text: string): string {
  if (!text.includes("\n")) return text;
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" ");
}
