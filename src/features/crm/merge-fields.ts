import type { Selectable } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
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
    else merged.set(name, accept(value, name, byName.get(name)));
  }
  if (merged.size > MAX_FIELDS)
    throw invalidField("custom_fields", `a lead can have at most ${MAX_FIELDS} custom fields`);
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

/** The value of a table cell: of its declared type, else a text. Throws VALIDATION_ERROR. */
export function readFieldCell(text: string, name: string, field: DeclaredField | undefined): Values[string] {
  return accept(field ? fromText(text, field.type) : text, name, field);
}

function fromText(text: string, type: DeclaredField["type"]): Values[string] {
  const number = Number(text);
  if (type === "number" && Number.isFinite(number)) return number;
  const flag = text.toLowerCase();
  return type === "boolean" && ["true", "false"].includes(flag) ? flag === "true" : text;
}

function accept(value: Values[string], name: string, field: DeclaredField | undefined): Values[string] {
  if (field === undefined || HOLDS[field.type](value, field.options)) return value;
  const expected = field.type === "select" ? `one of ${field.options.join(", ")}` : DESCRIPTIONS[field.type];
  throw invalidField(`custom_fields.${name}`, `must be ${expected}`);
}

const DESCRIPTIONS: Record<DeclaredField["type"], string> = {
  text: "a text",
  number: "a number",
  boolean: "true or false",
  date: "a date such as 2026-11-20",
  select: "one of its options",
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
  throw invalidField(issue?.path.join(".") || "fields", "must be a text, a number, true or false, or null");
}
