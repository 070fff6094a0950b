import type { JsonSchema } from "./json-schema.ts";
import type { SchemaComponents } from "./schema-components.ts";

type Json = Record<string, unknown>;

/** Values for fields that are always shown. */
const ALWAYS_SHOWN: Json = {
  number: "5511999990004",
  text: "Hello",
  url: "https://example.com/photo.jpg",
  reaction: "👍",
  events: ["message.*"],
  settings: {},
};

/** Values for fields that are shown if required. */
const SHOWN_IF_REQUIRED: Json = {
  email: "owner@example.com",
  password: "correct horse battery staple",
  current_password: "correct horse battery staple",
  new_password: "another long and good password",
  message_id: "3EB0C431D2A5F96B7E8812",
  jid: "120363000000000001@g.us",
  group_jid: "120363000000000001@g.us",
  phone: "5511999990004",
  from: "5511999990004",
  since: "2026-11-20T00:00:00Z",
  participants: ["5511999990004"],
  latitude: -23.5614,
  longitude: -46.6559,
  name: "Sales",
  subject: "Team",
  code: "AbCdEfGhIjKlMnOpQrStUv",
  numbers: ["5511999990004"],
};

type Schemas = Pick<SchemaComponents, "resolve">;

/** Generates a JSON body from a request schema; `schemas` has those that it refers to. */
export function exampleBody(schema: JsonSchema, schemas: Schemas): unknown {
  return sampleOf(resolve(schema, schemas), schemas);
}

function resolve(schema: unknown, schemas: Schemas): Json {
  return schemas.resolve((schema ?? {}) as JsonSchema);
}

function sampleOf(schema: Json, schemas: Schemas, name = ""): unknown {
  if (Object.hasOwn(ALWAYS_SHOWN, name)) return ALWAYS_SHOWN[name];
  if (Object.hasOwn(SHOWN_IF_REQUIRED, name)) return SHOWN_IF_REQUIRED[name];
  if ("default" in schema) return schema.default;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [branch] = ["anyOf", "oneOf", "allOf"].flatMap(
    (keyword) => (schema[keyword] as Json[] | undefined) ?? [],
  );
  if (branch) return sampleOf(resolve(branch, schemas), schemas, name);
  if (schema.type === "object" || schema.properties) return objectOf(schema, schemas);
  if (schema.type === "array") return [sampleOf(resolve(schema.items, schemas), schemas)];
  return plainOf(schema, name);
}

function objectOf({ properties = {}, required = [] }: Json, schemas: Schemas): Json {
  const shown = Object.entries(properties as Json).filter(
    ([name]) => (required as string[]).includes(name) || Object.hasOwn(ALWAYS_SHOWN, name),
  );
  return Object.fromEntries(
    shown.map(([name, field]) => [name, sampleOf(resolve(field, schemas), schemas, name)]),
  );
}

function plainOf({ type, format, minimum }: Json, name: string): unknown {
  if (type === "integer" || type === "number")
    return typeof minimum === "number" && minimum > 0 ? minimum : 1;
  if (type === "boolean") return true;
  if (format === "date-time") return "2026-11-20T12:00:00Z";
  return name === "" ? "text" : name.replaceAll("_", " ");
}
