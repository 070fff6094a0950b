import { parse } from "csv-parse/sync";
import { cleanJson } from "../../platform/clean-text.ts";
import { GatewayError, invalidField } from "../../platform/errors.ts";
import { readPhone } from "../contacts/contacts.ts";
import { MAX_RECIPIENTS } from "./contract.ts";

/** One recipient as a request names them, understood or not. */
export type GivenRecipient =
  | { phone: string; variables: Record<string, string> }
  | { value: string; reason: string };

const LONGEST_VALUE = 1_000;
const MAX_VARIABLES = 50;
const SHOWN = 100;

/** A recipient in a JSON body: a number, or an object with a phone. */
export function readRecipient(given: unknown, defaultCountry?: string): GivenRecipient {
  if (typeof given === "string" || typeof given === "number") return readNumber(given, {}, defaultCountry);
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return { value: show(given), reason: "is neither a number nor an object with a phone" };
  const { variables, name, ...rest } = given as Record<string, unknown>;
  const number = PHONE_NAMES.map((field) => rest[field]).find(
    (value) => value !== undefined && value !== null,
  );
  if (typeof number !== "string" && typeof number !== "number")
    return { value: show(given), reason: "has no phone" };
  const own = typeof variables === "object" && variables !== null ? variables : {};
  return readNumber(number, { name, ...own }, defaultCountry);
}

const PHONE_NAMES = ["phone", "number", "jid", "to", "whatsapp", "telefone", "celular"];

function show(given: unknown): string {
  return (typeof given === "string" ? given : (JSON.stringify(given) ?? "")).slice(0, SHOWN);
}

function readNumber(
  number: string | number,
  variables: Record<string, unknown>,
  defaultCountry: string | undefined,
): GivenRecipient {
  const told = toVariables(variables);
  if (!told) return { value: show(number), reason: "has variables that are too many or too long" };
  try {
    return { phone: readPhone("phone", String(number), defaultCountry), variables: told };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { value: show(String(number)), reason: error.message.replace(/^phone: /, "") };
  }
}

/** By names in lower case; undefined when they are too many or too long. */
function toVariables(given: Record<string, unknown>): Record<string, string> | undefined {
  const told = Object.entries(given).flatMap(([name, value]): [string, string][] =>
    ["string", "number", "boolean"].includes(typeof value)
      ? [[name.trim().toLowerCase(), String(value)]]
      : [],
  );
  const isTooMuch = told.length > MAX_VARIABLES || told.some(([, value]) => value.length > LONGEST_VALUE);
  return isTooMuch ? undefined : Object.fromEntries(told);
}

/** Lines that one record may take, a quoted field having line breaks. */
const LONGEST_RECORD = 20;
const ROWS_AT_ONCE = 1_000;

/**
 * The recipients of a CSV file, some at a time: columns as the first line names them, separated by comma, semicolon or
 * tab. A row that cannot be read is told, the others are kept.
 */
export function* readCsv(bytes: Uint8Array, defaultCountry?: string): Generator<GivenRecipient[]> {
  const lines = decode(bytes).split(/\r\n|\n|\r/);
  const delimiter = delimiterOf(lines[0] ?? "");
  const columns = parseRecord(lines[0] ?? "", delimiter)?.map((name) => name.trim().toLowerCase()) ?? [];
  const phoneAt = columns.findIndex((name) => PHONE_NAMES.includes(name));
  if (phoneAt < 0) throw invalidField("file", "the first line names no column phone, number or whatsapp");
  requireFew(lines);
  let rows: GivenRecipient[] = [];
  for (const { line, text } of records(lines)) {
    const cells = parseRecord(text, delimiter);
    rows.push(readRow(cells, { line, text, columns, phoneAt, defaultCountry }));
    if (rows.length < ROWS_AT_ONCE) continue;
    yield rows;
    rows = [];
  }
  yield rows;
}

/** Before the first of them is taken. */
function requireFew(lines: readonly string[]): void {
  let count = 0;
  for (const _ of records(lines)) count += 1;
  if (count > MAX_RECIPIENTS) throw invalidField("file", `has more than ${MAX_RECIPIENTS} rows`);
}

/** UTF-8, else what spreadsheets write in the west. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function delimiterOf(header: string): string {
  const counts = [",", ";", "\t"].map((sign) => ({ sign, count: header.split(sign).length }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.sign ?? ",";
}

interface CsvRecord {
  /** Of the file, from 1. */
  line: number;
  text: string;
}

/** A record goes on as long as a quote is open; a quote that is never closed ends with its line. */
function* records(lines: readonly string[]): Generator<CsvRecord> {
  for (let at = 1; at < lines.length; ) {
    const taken = linesOfRecord(lines, at);
    const text = lines.slice(at, at + taken).join("\n");
    if (text.trim() !== "") yield { line: at + 1, text };
    at += taken;
  }
}

function linesOfRecord(lines: readonly string[], at: number): number {
  let quotes = 0;
  for (let taken = 1; taken <= LONGEST_RECORD && at + taken <= lines.length; taken++) {
    quotes += (lines[at + taken - 1] ?? "").split('"').length - 1;
    if (quotes % 2 === 0) return taken;
  }
  return 1;
}

/** Undefined for what is no CSV. */
function parseRecord(text: string, delimiter: string): string[] | undefined {
  if (!text.includes('"')) return cleanJson(text.split(delimiter));
  try {
    const [cells] = parse(text, { delimiter, relax_column_count: true }) as string[][];
    return cells && cleanJson(cells);
  } catch {
    return undefined;
  }
}

interface RowFacts extends CsvRecord {
  columns: readonly string[];
  phoneAt: number;
  defaultCountry: string | undefined;
}

function readRow(cells: string[] | undefined, row: RowFacts): GivenRecipient {
  const refuse = (reason: string) => ({
    value: row.text.slice(0, SHOWN),
    reason: `line ${row.line}: ${reason}`,
  });
  if (!cells) return refuse("is not CSV");
  if (cells.length > row.columns.length)
    return refuse(`has ${cells.length} cells, the first line has ${row.columns.length}`);
  const variables = row.columns.flatMap((name, at): [string, string][] =>
    at === row.phoneAt || name === "" ? [] : [[name, (cells[at] ?? "").trim()]],
  );
  const read = readNumber(
    (cells[row.phoneAt] ?? "").trim(),
    Object.fromEntries(variables),
    row.defaultCountry,
  );
  return "reason" in read ? refuse(read.reason) : read;
}
