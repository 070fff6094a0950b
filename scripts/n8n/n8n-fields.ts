import { z } from "zod";
import type { Route } from "../../src/platform/http/route.ts";
import { displayNameOf, fieldDescription } from "./n8n-texts.ts";

/** A JSON Schema object of draft 2020-12, as zod emits it. */
export interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
  description?: string;
  [keyword: string]: unknown;
}

/** How the node turns a parameter into a field of the request; the same as in operation.ts of the node. */
type N8nFieldKind = "text" | "number" | "boolean" | "list" | "json";

/** A field of a route, as a parameter of the node. */
export interface N8nField {
  /** Of the parameter, unique in its operation: `message_id`, `contact_name`. */
  name: string;
  /** Of the request: `message_id`, `contact.name`. */
  path: string;
  kind: N8nFieldKind;
  isRequired: boolean;
  schema: JsonSchema;
}

/** The linter of n8n takes a parameter "action" for a list of operations. */
const PARAMETERS: Readonly<Record<string, string>> = { action: "task" };

/** In JSON Schema, a flag of a query is a text. */
const FLAGS = new Set(["success"]);

/** The fields of a route's input, those of nested objects one by one. */
export function n8nFieldsOf(route: Route): N8nField[] {
  const schema = z.toJSONSchema(route.input, { io: "input", unrepresentable: "any" }) as JsonSchema;
  return fieldsIn(schema, "");
}

function fieldsIn({ properties = {}, required = [] }: JsonSchema, parent: string): N8nField[] {
  return Object.entries(properties).flatMap(([name, given]) => {
    const path = `${parent}${name}`;
    const schema = plainOf(given);
    if (schema.properties) return fieldsIn({ ...schema, required: [] }, `${path}.`);
    return [toField(path, schema, required.includes(name))];
  });
}

/**
 * Of several forms that a field accepts, the one that a form can show: an object before a list of it, a list before a text,
 * a number before its text.
 */
function plainOf(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema as JsonSchema & { anyOf?: JsonSchema[] };
  if (!anyOf) return schema;
  const forms = anyOf.map(plainOf);
  const list = forms.find(({ type }) => type === "array");
  const object = forms.find(({ type }) => type === "object");
  const { items } = (list ?? {}) as { items?: JsonSchema };
  const form =
    (items && plainOf(items).type === "object" ? object : list) ??
    forms.find(({ type }) => type === "boolean" || type === "number") ??
    forms.find((one) => one.enum !== undefined) ??
    forms.find(({ type }) => type === "string") ??
    object ??
    {};
  return { ...form, ...rest };
}

function toField(path: string, schema: JsonSchema, isRequired: boolean): N8nField {
  const name = PARAMETERS[path] ?? path.replaceAll(".", "_");
  return { name, path, kind: FLAGS.has(path) ? "boolean" : kindOf(schema), isRequired, schema };
}

/** The parameter as n8n reads it, without `displayOptions`. */
export function n8nPropertyOf({ name, path, kind, schema }: N8nField): Record<string, unknown> {
  const described = fieldDescription(path, kind === "boolean", schema.description);
  return { displayName: displayNameOf(name), name, ...typeOf(kind, schema), ...described };
}

function kindOf(schema: JsonSchema): N8nFieldKind {
  const { type } = schema;
  if (type === "boolean") return "boolean";
  if (type === "integer" || type === "number") return "number";
  if (type === "array") return isObject(schema.items as JsonSchema) ? "json" : "list";
  return type === "object" ? "json" : "text";
}

function isObject(schema: JsonSchema): boolean {
  return plainOf(schema).type === "object";
}

/** Type, default and limits of the parameter. */
function typeOf(kind: N8nFieldKind, schema: JsonSchema): Record<string, unknown> {
  const options = schema.enum as string[] | undefined;
  if (options) {
    const listed = options.map((value) => ({ name: displayNameOf(value), value }));
    const sorted = listed.toSorted((one, other) => one.name.localeCompare(other.name));
    return { type: "options", options: sorted, default: schema.default ?? options[0] };
  }
  if (kind === "boolean") return { type: "boolean", default: schema.default ?? false };
  if (kind === "json") return { type: "json", default: schema.type === "array" ? "[]" : "{}" };
  if (kind === "number")
    return {
      type: "number",
      ...limitsOf(schema),
      default: schema.default ?? Math.max(0, Number(schema.minimum ?? 0)),
    };
  const isLong = kind === "text" && Number(schema.maxLength) >= 2_000;
  return { type: "string", ...(isLong && { typeOptions: { rows: 4 } }), default: "" };
}

function limitsOf({ minimum, maximum, exclusiveMinimum }: JsonSchema): Record<string, unknown> {
  const isUnbounded = minimum === undefined || minimum === Number.MIN_SAFE_INTEGER;
  const minValue = isUnbounded ? (exclusiveMinimum === 0 ? 1 : undefined) : minimum;
  const maxValue = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const limits = { ...(minValue !== undefined && { minValue }), ...(maxValue !== undefined && { maxValue }) };
  return Object.keys(limits).length > 0 ? { typeOptions: limits } : {};
}
