import { z } from "zod";
import { type SchemaDirection, schemaName } from "../http/schema-name.ts";
import type { JsonSchema } from "./json-schema.ts";
import { tidySchema } from "./tidy-schema.ts";

export interface JsonSchemas {
  of(schema: z.ZodType, direction: SchemaDirection): JsonSchema;
  /** A named schema that was converted. */
  find(name: string): JsonSchema | undefined;
  /** The named schemas, ordered by name. */
  shared(): Record<string, JsonSchema>;
}

/** Converts zod schemas to JSON Schema and collects the named ones (`named`, recursive ones). */
export function createJsonSchemas(): JsonSchemas {
  const named = new Map<string, { original: string; schema: JsonSchema }>();

  function share(name: string, schema: JsonSchema, direction: SchemaDirection): string {
    const original = JSON.stringify(schema);
    const known = named.get(name);
    if (known && known.original !== original) {
      return share(`${name}${direction === "input" ? "Input" : "Output"}`, schema, direction);
    }
    if (!known) named.set(name, { original, schema });
    return name;
  }

  return {
    of(schema, direction) {
      const { $schema, $defs = {}, ...shape } = toJsonSchema(schema, direction);
      const definitions = Object.entries($defs as Record<string, JsonSchema>);
      const names = new Map<string, string>();
      for (const [name, definition] of definitions)
        names.set(`#/$defs/${name}`, `#/components/schemas/${share(name, definition, direction)}`);
      for (const [, definition] of definitions) renameReferences(definition, names);
      return renameReferences(shape, names);
    },
    find: (name) => named.get(name)?.schema,
    shared() {
      const sorted = [...named].sort(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(sorted.map(([name, { schema }]) => [name, schema]));
    },
  };
}

function toJsonSchema(schema: z.ZodType, io: SchemaDirection): JsonSchema {
  const json = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io,
    unrepresentable: "any",
    metadata: NAMED_METADATA,
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod;
      if (isDate(def)) Object.assign(jsonSchema, { type: "string", format: "date-time" });
      if (def.type === "union" && "discriminator" in def)
        Object.assign(jsonSchema, discriminatorOf(def as z.core.$ZodDiscriminatedUnionDef));
    },
  });
  return tidySchema(json as JsonSchema, io);
}

/** Zod's own metadata, and the names of `named` as ids. */
const NAMED_METADATA = {
  get(schema: z.core.$ZodType) {
    const id = schemaName(schema);
    const metadata = z.globalRegistry.get(schema);
    return id === undefined ? metadata : { ...metadata, id };
  },
} as z.core.$ZodRegistry<Record<string, unknown>>;

/** Which field tells the alternatives apart; OpenAPI allows it only between components. */
function discriminatorOf({ discriminator, options }: z.core.$ZodDiscriminatedUnionDef): object {
  const names = options.map(schemaName);
  if (names.includes(undefined)) return {};
  const mapping = options.flatMap((option, nth) => {
    const values = [...(option._zod.propValues?.[discriminator] ?? [])];
    return values.map((value) => [String(value), `#/$defs/${names[nth]}`]);
  });
  return { discriminator: { propertyName: discriminator, mapping: Object.fromEntries(mapping) } };
}

/** A Date, or a Date that is serialised as ISO text. */
function isDate(def: z.core.$ZodTypeDef): boolean {
  if (def.type === "date") return true;
  if (def.type !== "pipe") return false;
  const { in: from, out } = def as z.core.$ZodPipeDef;
  return from._zod.def.type === "date" && out._zod.def.type === "transform";
}

function renameReferences(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  for (const [keyword, value] of Object.entries(schema)) {
    if (typeof value === "string") schema[keyword] = names.get(value) ?? value;
    else if (typeof value === "object" && value !== null) renameReferences(value as JsonSchema, names);
  }
  return schema;
}

const COMBINATIONS = ["allOf", "anyOf", "oneOf"] as const;

/** Splits fields that travel elsewhere (such as in the path) off an object schema and its alternatives. */
export function splitFields(
  schema: JsonSchema,
  names: readonly string[],
): { named: Record<string, JsonSchema>; rest: JsonSchema } {
  const named: Record<string, JsonSchema> = {};
  const rest: JsonSchema = { ...schema };
  if (schema.properties) {
    rest.properties = {};
    for (const [name, field] of Object.entries(schema.properties)) {
      (names.includes(name) ? named : rest.properties)[name] = field;
    }
  }
  const required = (schema.required ?? []).filter((name) => !names.includes(name));
  if (required.length > 0) rest.required = required;
  else delete rest.required;
  for (const keyword of COMBINATIONS) {
    const branches = schema[keyword];
    if (!Array.isArray(branches)) continue;
    const split = branches.map((branch: JsonSchema) => splitFields(branch, names));
    for (const branch of split) Object.assign(named, branch.named);
    rest[keyword] = split.map((branch) => branch.rest);
  }
  return { named, rest };
}
