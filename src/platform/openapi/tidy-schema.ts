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
  mergeNull(schema);
  return schema;
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
