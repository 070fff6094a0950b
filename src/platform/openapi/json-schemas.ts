import { z } from "zod";

/** A JSON Schema object of draft 2020-12, as zod emits it. */
export interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
  description?: string;
  [keyword: string]: unknown;
}

type Direction = "input" | "output";

export interface JsonSchemas {
  of(schema: z.ZodType, direction: Direction): JsonSchema;
  /** The named schemas, ordered by name. */
  shared(): Record<string, JsonSchema>;
}

/** Converts zod schemas to JSON Schema and collects the named ones (`.meta({ id })`, recursive ones). */
export function createJsonSchemas(): JsonSchemas {
  const named = new Map<string, { original: string; schema: JsonSchema }>();

  function share(name: string, schema: JsonSchema, direction: Direction): string {
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
      const names = new Map<string, string>();
      for (const [name, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
        names.set(`#/$defs/${name}`, `#/components/schemas/${share(name, definition, direction)}`);
      }
      for (const { schema: definition } of named.values()) renameReferences(definition, names);
      return renameReferences(shape, names);
    },
    shared() {
      const sorted = [...named].sort(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(sorted.map(([name, { schema }]) => [name, schema]));
    },
  };
}

function toJsonSchema(schema: z.ZodType, io: Direction): JsonSchema {
  return z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (isDate(zodSchema._zod.def)) Object.assign(jsonSchema, { type: "string", format: "date-time" });
    },
  }) as JsonSchema;
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
    if (keyword === "$ref") schema.$ref = names.get(String(value)) ?? value;
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
