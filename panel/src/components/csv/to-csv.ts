import { toCsvCell } from "../../../../src/platform/text/to-csv-line.ts";

export interface Table {
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
}

/** CSV by RFC 4180, with a byte order mark so that spreadsheets read UTF-8. */
export function toCsv({ columns, rows }: Table): string {
  return `\uFEFF${[columns, ...rows].map((row) => row.map(toCell).join(",")).join("\r\n")}\r\n`;
}

function toCell(value: unknown): string {
  return toCsvCell(typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? ""));
}

interface Page<Row> {
  data: readonly Row[];
  pagination: { next_cursor: string | null };
}

/** Spreadsheets become slow above this. The export reports when it was cut. */
const MOST_ROWS = 10_000;

/** Reads every page of a list. */
export async function readEveryPage<Row>(
  readPage: (page: { limit: number; cursor?: string }) => Promise<Page<Row>>,
  mostRows = MOST_ROWS,
): Promise<{ rows: Row[]; isCut: boolean }> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage({ limit: 200, ...(cursor !== undefined && { cursor }) });
    rows.push(...page.data);
    cursor = page.pagination.next_cursor ?? undefined;
  } while (cursor !== undefined && rows.length < mostRows);
  return { rows, isCut: cursor !== undefined };
}
