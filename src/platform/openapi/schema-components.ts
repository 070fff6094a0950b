import type { z } from "zod";
import { namedSchemas, type SchemaDirection } from "../http/schema-name.ts";
import { composeSchemas } from "./compose-schemas.ts";
import type { JsonSchema } from "./json-schema.ts";
import { createJsonSchemas } from "./json-schemas.ts";

const PREFIX = "#/components/schemas/";

export interface SchemaComponents {
  /** The JSON Schema of a zod schema; its named parts are references. */
  of(schema: z.ZodType, direction: SchemaDirection): JsonSchema;
  /** Adds a component under the first name that is free, and returns a reference to it; once if it is equal. */
  add(schema: JsonSchema, ...names: readonly string[]): JsonSchema;
  /** What a reference means; the schema itself if it is none. */
  resolve(schema: JsonSchema): JsonSchema;
  /** All components that `roots` need, ordered by name. */
  used(roots: unknown): Record<string, JsonSchema>;
}

/** The schemas of an OpenAPI document: the named ones of the contract, and those of its requests and responses. */
export function createSchemaComponents(shared: Readonly<Record<string, JsonSchema>>): SchemaComponents {
  const json = createJsonSchemas();
  const added = new Map<string, JsonSchema>();
  const nameOf = new Map<string, string>();

  return {
    of: json.of,
    add(schema, ...names) {
      const content = JSON.stringify(schema);
      const known = nameOf.get(content);
      if (known !== undefined) return referenceTo(known);
      const name = names.find((one) => !added.has(one));
      if (name === undefined)
        throw new Error(`Two components of the OpenAPI document are named ${names.at(-1)}.`);
      added.set(name, schema);
      nameOf.set(content, name);
      return referenceTo(name);
    },
    resolve(schema) {
      const name = componentOf(schema);
      return name === undefined ? schema : (json.find(name) ?? added.get(name) ?? schema);
    },
    used(roots) {
      // Some are only the base of others.
      for (const [schema, direction] of namedSchemas()) json.of(schema, direction);
      const named = { ...shared, ...json.shared() };
      const all = { ...named, ...Object.fromEntries(added) };
      const composed = composeSchemas(all, new Set(Object.keys(named)));
      const needed = reachable(roots, composed);
      const names = Object.keys(composed).filter((name) => needed.has(name));
      return Object.fromEntries(names.toSorted().map((name) => [name, composed[name] as JsonSchema]));
    },
  };
}

/** The name of the component that a reference means. */
export function componentOf({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === "string" && $ref.startsWith(PREFIX) ? $ref.slice(PREFIX.length) : undefined;
}

function referenceTo(name: string): JsonSchema {
  return { $ref: `${PREFIX}${name}` };
}

function reachable(
  from: unknown,
  schemas: Readonly<Record<string, JsonSchema>>,
  found = new Set<string>(),
): ReadonlySet<string> {
  if (typeof from !== "object" || from === null) return found;
  const name = componentOf(from as JsonSchema)?.split("/", 1)[0];
  if (name !== undefined && !found.has(name)) {
    found.add(name);
    reachable(schemas[name], schemas, found);
  }
  for (const value of Object.values(from)) reachable(value, schemas, found);
  return found;
}
