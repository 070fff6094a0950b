import {
  isListedNumber,
  type ListedNumberOptions,
  type NumberWarning,
  readListedNumber,
} from "../../../core/contacts/contacts.ts";
import { GatewayError, invalidField, reasonOf } from "../../../platform/gateway-error.ts";
import { refuseDifferentAddresses } from "../../../platform/http/input/refuse-different-addresses.ts";
import { type IssueReason, type ValueIssue, valueIssue } from "../../../platform/issue-codes.ts";
import { withCountry } from "../../../platform/phone/with-country.ts";
import { describeCsvProblem, describeMissingPhone, readCsvTable } from "../../../platform/text/csv-table.ts";
import {
  findColumnMeanings,
  findOtherVariables,
  findVariableNames,
  VARIABLE_COLUMN,
} from "../../../platform/text/find-column-meanings.ts";
import { MAX_VARIABLES } from "../../../platform/text/render-template.ts";
import { MAX_RECIPIENTS } from "../contract.ts";

/** One recipient of a request, valid or not. */
export type ParsedRecipient =
  | { phone: string; variables: Record<string, string>; line?: number }
  | UnconfirmedRecipient
  | InvalidRecipient;

/** A number whose country is assumed. */
export interface UnconfirmedRecipient {
  line: number;
  value: string;
  warning: NumberWarning;
}

export interface InvalidRecipient extends IssueReason {
  value: string;
  reason: string;
}

const LONGEST_VALUE = 1_000;
const SHOWN = 100;

/** A recipient in a JSON body: a number, or an object with a phone. `line` is its position, from 1. */
export function readRecipient(
  recipient: unknown,
  line: number,
  options: ListedNumberOptions,
): ParsedRecipient {
  if (typeof recipient === "string" || typeof recipient === "number")
    return readNumber(recipient, {}, line, options);
  if (typeof recipient !== "object" || recipient === null || Array.isArray(recipient))
    return refuse(show(recipient), NOT_A_RECIPIENT);
  const { variables, name, country_code, countryCode, country, ...fields } = recipient as Record<
    string,
    unknown
  >;
  const given = Object.entries(fields).flatMap(([field, value]): [string, string][] => {
    const text = typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
    return text === "" ? [] : [[field, text]];
  });
  const number = given[findColumnMeanings(given.map(([field]) => field)).indexOf("phone")]?.[1];
  if (number === undefined) return refuse(show(recipient), NO_PHONE);
  const other = findOtherPhone(given);
  if (other) return toInvalid(show(recipient), other);
  const place = country_code ?? countryCode ?? country ?? "";
  const own = typeof variables === "object" && variables !== null ? variables : {};
  return readNumber(withCountry(number, show(place)), { name, ...own }, line, options);
}

/** The refusal of fields that name two people. */
function findOtherPhone(given: readonly (readonly [string, string])[]): GatewayError | undefined {
  const texts = new Map(given);
  const names = [...texts.keys()].filter(
    (field) => field !== "number" && findColumnMeanings([field])[0] === "phone",
  );
  try {
    refuseDifferentAddresses({ aliases: { number: names } }, (field) => texts.get(field));
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function show(value: unknown): string {
  return (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, SHOWN);
}

function readNumber(
  number: string | number,
  variables: Record<string, unknown>,
  line: number,
  options: ListedNumberOptions,
): ParsedRecipient {
  const parsed = toVariables(variables);
  if (!parsed) return refuse(show(number), TOO_MANY_VARIABLES);
  try {
    const { phone, warning } = readListedNumber(String(number), options);
    return warning ? { line, value: show(String(number)), warning } : { phone, variables: parsed };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return toInvalid(show(String(number)), error);
  }
}

export function toInvalid(value: string, refusal: GatewayError, line?: number): InvalidRecipient {
  const reason = refusal.message.replace(/^phone: /, line === undefined ? "" : `line ${line}: `);
  return { value, reason, ...reasonOf(refusal) };
}

export function refuse(value: string, { code, params, issue }: ValueIssue): InvalidRecipient {
  return { value, reason: issue, code, params };
}

const NOT_A_RECIPIENT = valueIssue("is neither a number nor an object with a phone", "wrong_type", {
  expected: "text, number, object",
});
export const NO_PHONE = valueIssue("has no phone", "missing");
const TOO_MANY_VARIABLES = valueIssue(
  `has more than ${MAX_VARIABLES} variables, or one of more than ${LONGEST_VALUE} characters`,
  "too_many",
  { max: MAX_VARIABLES },
);

/** Variables by name in lower case; undefined when they are too many or too long. */
function toVariables(variables: Record<string, unknown>): Record<string, string> | undefined {
  const entries = Object.entries(variables).flatMap(([name, value]): [string, string][] =>
    ["string", "number", "boolean"].includes(typeof value)
      ? [[name.trim().toLowerCase(), String(value)]]
      : [],
  );
  const isTooMuch =
    entries.length > MAX_VARIABLES || entries.some(([, value]) => value.length > LONGEST_VALUE);
  return isTooMuch ? undefined : Object.fromEntries(entries);
}

const ROWS_AT_ONCE = 1_000;

/**
 * Yields the recipients of a CSV file in batches: columns as the first line names them, separated by comma,
 * semicolon or tab. An unreadable row is reported; the others are kept.
 */
export async function* readRecipientCsv(
  bytes: Uint8Array,
  options: ListedNumberOptions,
): AsyncGenerator<ParsedRecipient[]> {
  const table = await readCsvTable(bytes, {}, (cell) => isListedNumber(cell, options.country));
  const phoneAt = findColumnMeanings(table.columns).indexOf("phone");
  if (phoneAt < 0) throw invalidField("file", describeMissingPhone(table), "no_phone_column");
  // Checked before the first recipient is stored.
  if (await table.hasMoreThan(MAX_RECIPIENTS))
    throw invalidField("file", `has more than ${MAX_RECIPIENTS} rows`, "too_many", { max: MAX_RECIPIENTS });
  const names = findVariableNames(table.columns);
  let rows: ParsedRecipient[] = [];
  for await (const { line, text: value, cells, problem } of table.records()) {
    const read = problem
      ? refuse(value, describeCsvProblem(problem, table))
      : readNumber((cells[phoneAt] ?? "").trim(), toRowVariables(table.columns, names, cells), line, options);
    rows.push(
      "reason" in read ? { ...read, value, reason: `line ${line}: ${read.reason}` } : { ...read, line },
    );
    if (rows.length < ROWS_AT_ONCE) continue;
    yield rows;
    rows = [];
  }
  yield rows;
}

/** An empty cell is no variable, as the columns of a report belong to different recipients. */
function toRowVariables(
  columns: readonly string[],
  names: readonly (string | undefined)[],
  cells: readonly string[],
) {
  const given = names.flatMap((name, at): [string, string][] => {
    const cell = cells[at] ?? "";
    const value = columns[at]?.startsWith(VARIABLE_COLUMN) ? cell : cell.trim();
    return name === undefined || value === "" ? [] : [[name, value]];
  });
  return { ...readOthers(cells[findOtherVariables(columns)]), ...Object.fromEntries(given) };
}

/** The variables of a report that share a column. */
function readOthers(json = ""): Record<string, unknown> {
  try {
    const others: unknown = JSON.parse(json || "{}");
    return typeof others === "object" && others !== null && !Array.isArray(others) ? { ...others } : {};
  } catch {
    return {};
  }
}
