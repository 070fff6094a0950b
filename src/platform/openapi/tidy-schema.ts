import type { SchemaDirection } from "../http/schema-name.ts";
import type { JsonSchema } from "./json-schema.ts";

const INT32_MAX = 2_147_483_647;
const SCALARS = ["string", "integer", "number", "boolean"];

/** Leaves out what a reader of the document does not need, and adds what generated clients need. */
export function tidySchema(schema: JsonSchema, io: SchemaDirection): JsonSchema {
  for (const value of Object.values(schema))
    if (typeof value === "object" && value !== null) tidySchema(value as JsonSchema, io);
  // The format says it; the pattern has 280 characters.
  if (schema.format === "date-time") delete schema.pattern;
  if (schema.type === "integer") tidyInteger(schema);
  if (schema.type === "number") schema.format = "double";
  // Later versions add fields to responses.
  if (io === "output" && schema.additionalProperties === false) delete schema.additionalProperties;
  if (isAnyText(schema.propertyNames)) delete schema.propertyNames;
  if (io === "output") omitRespelled(schema);
  if (Array.isArray(schema.anyOf)) mergeTexts(schema, schema.anyOf as JsonSchema[]);
  mergeNull(schema);
  return schema;
}

/** Omits fields that a response repeats in camelCase: in many languages both would get the same name. */
function omitRespelled(schema: JsonSchema): void {
  const { properties = {} } = schema;
  if (schema.type !== "object") return;
  for (const name of Object.keys(properties).filter((one) => one.includes("_"))) {
    const respelled = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (respelled === name || !Object.hasOwn(properties, respelled)) continue;
    delete properties[respelled];
    if (schema.required) schema.required = schema.required.filter((one) => one !== respelled);
    const { description, ...field } = properties[name] as JsonSchema;
    const note = [description, `Also as \`${respelled}\`.`].filter(Boolean).join(" ");
    properties[name] = { ...field, description: note };
  }
}

/** Joins the enums among alternatives, and omits a text that another alternative allows, too. */
function mergeTexts(schema: JsonSchema, alternatives: readonly JsonSchema[]): void {
  const enums = alternatives.filter((one) => one.type === "string" && Array.isArray(one.enum));
  const isAnyShort = alternatives.some(
    (one) => one.type === "string" && !one.minLength && !one.pattern && !one.enum && one.const === undefined,
  );
  const rest = alternatives.filter((one) => !enums.includes(one) && !(isAnyShort && one.const === ""));
  const joined = { type: "string", enum: [...new Set(enums.flatMap((one) => one.enum))] };
  const kept = enums.length > 1 ? [joined, ...rest] : [...enums, ...rest];
  if (kept.length === alternatives.length) return;
  if (kept.length > 1) {
    schema.anyOf = kept;
    return;
  }
  delete schema.anyOf;
  Object.assign(schema, { ...kept[0], ...schema });
}

/** JSON numbers are exact in this range. Without the format, clients in some languages read 32 bits. */
function tidyInteger(schema: JsonSchema): void {
  const { minimum, maximum } = schema;
  if (minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (typeof schema.maximum !== "number" || schema.maximum > INT32_MAX) schema.format = "int64";
}

function isAnyText(schema: unknown): boolean {
  return JSON.stringify(schema) === '{"type":"string"}';
}

/** Writes `{anyOf: [{type: "string", ...}, {type: "null"}]}` as `{type: ["string", "null"], ...}`. */
function mergeNull(schema: JsonSchema): void {
  if (!Array.isArray(schema.anyOf) || schema.anyOf.length !== 2) return;
  const [value, other] = schema.anyOf as [JsonSchema, JsonSchema];
  if (other.type !== "null" || !SCALARS.includes(String(value.type))) return;
  if ("enum" in value || "const" in value) return;
  delete schema.anyOf;
  Object.assign(schema, { ...value, ...schema, type: [value.type, "null"] });
}
