import type { z } from "zod";
import {
  isErased,
  isListedNumber,
  type ListedNumberOptions,
  type NumberWarning,
  readListedNumber,
} from "../../core/contacts/contacts.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { createIssueDescriber } from "../../platform/http/input/describe-issue.ts";
import { issueReasonOf } from "../../platform/http/input/issue-reason-of.ts";
import { type IssueReason, type ValueIssue, valueIssue } from "../../platform/issue-codes.ts";
import {
  type CsvRecord,
  type CsvTable,
  describeCsvProblem,
  describeMissingPhone,
  readCsvTable,
} from "../../platform/text/csv-table.ts";
import { findColumnMeanings, findPassedOver } from "../../platform/text/find-column-meanings.ts";
import { findJoined } from "../../platform/text/find-joined-columns.ts";
import { CUSTOM_FIELD_COLUMN, leadRow, MAX_FIELDS, MAX_IMPORTED } from "./contract.ts";
import { type DeclaredField, readFieldValue } from "./merge-fields.ts";
import { readTagCell } from "./tag-cell.ts";

/** A row of a file that names a lead, with its values. */
export interface ParsedLead {
  line: number;
  text: string;
  id: number | undefined;
  /** Of the lead with the id, in milliseconds: another file has ids of something else. */
  created_at: number;
  phone: string | undefined;
  name: string | undefined;
  email: string | undefined;
  status: string | undefined;
  kanban_status: string | undefined;
  tags: string[];
  custom_fields: Record<string, string | number | boolean>;
  opted_out: boolean;
}

export interface RejectedRow extends IssueReason {
  line: number;
  value: string;
  /** null: the whole row, or whether the account may have its lead. */
  field: string | null;
  reason: string;
}

/** A row whose number has no country code. */
export interface UnconfirmedRow {
  line: number;
  value: string;
  warning: NumberWarning;
}

export type LeadFileRow = ParsedLead | RejectedRow | UnconfirmedRow;

export interface LeadFile {
  /** The custom fields that have a column in the file. */
  fields: string[];
  /** The first characters of the columns that are not read. */
  ignored: string[];
  rows(declared: ReadonlyMap<string, DeclaredField>): AsyncGenerator<LeadFileRow>;
}

const TEXTS = ["name", "email", "status", "kanban_status"] as const;
const OPT_OUT_TIME = "opted_out_at";
const SHOWN = 100;

/** Throws VALIDATION_ERROR for a file without a column of phones or with too many rows. */
export async function readLeadFile(bytes: Uint8Array, numbers: ListedNumberOptions): Promise<LeadFile> {
  const table = await readCsvTable(bytes, {}, (cell) => isListedNumber(cell, numbers.country));
  const meanings = findColumnMeanings(table.columns);
  const columns = table.columns.map((name, at) => meanings[at] ?? (fieldOf(name) === undefined ? "" : name));
  if (!columns.includes("phone")) throw invalidField("file", describeMissingPhone(table), "no_phone_column");
  const fields = columns.flatMap((name) => fieldOf(name) ?? []);
  if (fields.length > MAX_FIELDS)
    throw invalidField("file", `has more than ${MAX_FIELDS} custom fields`, "too_many", { max: MAX_FIELDS });
  if (await table.hasMoreThan(MAX_IMPORTED))
    throw invalidField("file", `has more than ${MAX_IMPORTED} rows`, "too_many", { max: MAX_IMPORTED });
  return {
    fields,
    ignored: findIgnored(table, columns).map((name) => name.slice(0, SHOWN)),
    async *rows(declared) {
      // A column that occurs twice counts where it occurs last.
      const places = new Map(columns.map((name, at) => [name, at]));
      const context = { table, places, fields, declared, numbers };
      for await (const record of table.records()) yield readRow(record, context);
    },
  };
}

/** Lines above the columns, and columns of people, that an import does not read, and that no export has. */
function findIgnored({ columns, hasHead, titles }: CsvTable, known: readonly string[]): string[] {
  if (!hasHead) return [];
  const [passedOver, joined] = [findPassedOver(columns), findJoined(columns)];
  const ignored = columns.filter(
    (name, at) => known[at] === "" && name !== "" && name !== OPT_OUT_TIME && !passedOver[at] && !joined[at],
  );
  return [...titles, ...ignored];
}

function fieldOf(column: string): string | undefined {
  return column.startsWith(CUSTOM_FIELD_COLUMN) ? column.slice(CUSTOM_FIELD_COLUMN.length) : undefined;
}

interface RowContext {
  table: CsvTable;
  /** The place of each column, by its name. */
  places: ReadonlyMap<string, number>;
  fields: readonly string[];
  declared: ReadonlyMap<string, DeclaredField>;
  numbers: ListedNumberOptions;
}

function readRow(record: CsvRecord, context: RowContext): LeadFileRow {
  if (record.problem) return rejectRow(record, null, describeCsvProblem(record.problem, context.table));
  try {
    return toLead(record, context);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return rejectRefused(record, error);
  }
}

export function rejectRefused(row: { line: number; text: string }, { details }: GatewayError): RejectedRow {
  const { field, ...issue } = details?.fields?.[0] ?? {
    field: null,
    ...valueIssue("is not valid", "invalid"),
  };
  return rejectRow(row, field, issue);
}

export function rejectRow(
  { line, text: value }: { line: number; text: string },
  field: string | null,
  { code, params, issue }: ValueIssue,
): RejectedRow {
  return { line, value, field, code, params, reason: field === null ? issue : `${field}: ${issue}` };
}

function toLead(
  { line, text, cells }: Extract<CsvRecord, { cells: string[] }>,
  { table, places, fields, declared, numbers }: RowContext,
): ParsedLead | UnconfirmedRow {
  const cell = (name: string) => (cells[places.get(name) ?? -1] ?? "").trim() || undefined;
  const id = readId(cell("id"));
  const phone = cell("phone");
  const lead = parseRow({
    // A lead whose person was erased is known by its id alone.
    phone: id !== undefined && phone && isErased(phone) ? undefined : phone,
    ...Object.fromEntries(TEXTS.map((name) => [name, cell(name)])),
    tags: readTagCell(cell("tags") ?? ""),
    custom_fields: Object.fromEntries(
      fields.flatMap((name) => {
        const value = cell(CUSTOM_FIELD_COLUMN + name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  });
  if (lead.phone === undefined && id === undefined) throw invalidField("phone", "is required", "missing");
  const { phone: number, warning } = lead.phone ? readListedNumber(lead.phone, numbers) : {};
  if (warning) return { line, value: lead.phone ?? "", warning };
  return {
    line,
    text,
    id,
    created_at: Date.parse(cells[table.columns.indexOf("created_at")] ?? ""),
    phone: number,
    name: lead.name ?? undefined,
    email: lead.email ?? undefined,
    status: lead.status,
    kanban_status: lead.kanban_status ?? undefined,
    tags: lead.tags ?? [],
    custom_fields: Object.fromEntries(
      Object.entries(lead.custom_fields ?? {}).map(([name, value]) => [
        name,
        readFieldValue(String(value), name, declared.get(name)),
      ]),
    ),
    opted_out: readOptOut(cell("opted_out"), cells[table.columns.indexOf(OPT_OUT_TIME)]),
  };
}

function parseRow(row: Record<string, unknown>): z.output<typeof leadRow> {
  const parsed = leadRow.safeParse(row, { error: createIssueDescriber() });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const { code, params } = issue ? issueReasonOf(issue) : valueIssue("", "invalid");
  throw invalidField(issue?.path.join(".") ?? "", issue?.message ?? "is not valid", code, params);
}

function readId(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw invalidField("id", "must be the id of a lead", "not_found");
}

/** Also as a spreadsheet writes it in the language of its user. */
const YES = /^(?:true|yes|y|1|x|verdadeiro|verdadero|sim|s[ií]?|wahr|vrai)$/i;
const NO = /^(?:false|no|n|0|falso|não|nao|falsch|faux)$/i;

/** A list may have only the time of the opt-out. */
function readOptOut(flag: string | undefined, time = ""): boolean {
  if (flag === undefined) return time.trim() !== "";
  if (YES.test(flag) || NO.test(flag)) return YES.test(flag);
  throw invalidField("opted_out", "must be true or false", "unknown_value", { values: "true, false" });
}
