import type { Selectable } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { type ValueIssue, valueIssue } from "../../platform/issue-codes.ts";
import type { CustomFieldTable } from "../../tables.ts";
import { MAX_FIELDS, topLevelFields } from "./contract.ts";

type Values = Record<string, string | number | boolean>;
export type DeclaredField = Pick<Selectable<CustomFieldTable>, "name" | "type" | "options">;

/** Values to set, by field; null removes one. */
export type FieldChange = Record<string, string | number | boolean | null>;

/**
 * The values after the change. Throws VALIDATION_ERROR for a value that its declared field does not allow.
 */
export async function mergeFields(
  trx: Trx,
  accountId: number,
  values: Values,
  change: FieldChange,
): Promise<Values> {
  const byName = await findDeclaredFields(trx, accountId, Object.keys(change));
  const merged = new Map(Object.entries(values));
  for (const [name, value] of Object.entries(change)) {
    if (value === null) merged.delete(name);
    else merged.set(name, readFieldValue(value, name, byName.get(name)));
  }
  if (merged.size > MAX_FIELDS)
    throw invalidField("custom_fields", `a lead can have at most ${MAX_FIELDS} custom fields`, "too_many", {
      max: MAX_FIELDS,
    });
  return Object.fromEntries(merged);
}

/** The account's declared fields among these, by name. */
export async function findDeclaredFields(
  db: Db | Trx,
  accountId: number,
  names: readonly string[],
): Promise<Map<string, DeclaredField>> {
  const declared = await db
    .selectFrom("custom_field")
    .select(["name", "type", "options"])
    .where("account_id", "=", accountId)
    .where("name", "in", ["", ...names])
    .execute();
  return new Map(declared.map((field) => [field.name, field]));
}

/** The value as its declared field holds it, also from a text such as a cell. Throws VALIDATION_ERROR. */
export function readFieldValue(
  value: Values[string],
  name: string,
  field: DeclaredField | undefined,
): Values[string] {
  if (field === undefined) return value;
  const meant = asDeclared(value, field.type);
  if (HOLDS[field.type](meant, field.options)) return meant;
  const { issue, code, params } = ISSUES[field.type](field.options.join(", "));
  throw invalidField(`custom_fields.${name}`, issue, code, params);
}

/** A comma is refused: it marks decimals in some countries, and thousands in others. */
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

function asDeclared(value: Values[string], type: DeclaredField["type"]): Values[string] {
  if (typeof value === "number" && type === "text") return String(value);
  if (typeof value !== "string") return value;
  const written = value.trim().toLowerCase();
  if (type === "number" && NUMBER.test(written) && Number.isFinite(Number(written))) return Number(written);
  return type === "boolean" && ["true", "false"].includes(written) ? written === "true" : value;
}

const ISSUES: Record<DeclaredField["type"], (options: string) => ValueIssue> = {
  text: () => valueIssue("must be a text", "wrong_type", { expected: "text" }),
  number: () => valueIssue("must be a number such as 1.5", "wrong_type", { expected: "number" }),
  boolean: () => valueIssue("must be true or false", "wrong_type", { expected: "boolean" }),
  date: () => valueIssue("must be a date such as 2026-11-20", "not_a_date"),
  select: (values) => valueIssue(`must be one of ${values}`, "unknown_value", { values }),
};

const HOLDS: Record<DeclaredField["type"], (value: unknown, options: readonly string[]) => boolean> = {
  text: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  date: (value) => typeof value === "string" && isDate(value),
  select: (value, options) => typeof value === "string" && options.includes(value),
};

/** A calendar day, or a timestamp that begins with one. */
function isDate(text: string): boolean {
  const [, day] =
    /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(text))) return false;
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

const NOT_VALUES = new Set(["id", "fields", "custom_fields", "customFields"]);

/** The change that a body requests: its `fields`, or its top-level values. */
export function readFieldChange(body: Record<string, unknown>): FieldChange {
  if (body.fields !== undefined) return topLevelFields.parse(body.fields);
  const bare = Object.fromEntries(Object.entries(body).filter(([name]) => !NOT_VALUES.has(name)));
  const parsed = topLevelFields.safeParse(bare);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidField(
    issue?.path.join(".") || "fields",
    "must be a text, a number, true or false, or null",
    "wrong_type",
    { expected: "text, number, true or false, null" },
  );
}
