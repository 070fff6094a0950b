import type { Aliases } from "../http/route.ts";
import type { JsonSchema } from "./json-schemas.ts";

/** Adds the accepted aliases to the description of each field of the schema. */
export function withAliasNotes(schema: JsonSchema, aliases: Aliases = {}): JsonSchema {
  if (!schema.properties) return schema;
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([name, field]) => {
      const others = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
      if (!others || others.length === 0) return [name, field];
      const description = [field.description, `Also accepted: ${list(others)}.`].filter(Boolean).join(" ");
      return [name, { ...field, description }];
    }),
  );
  return { ...schema, properties };
}

/** Describes the aliases of fields that are not at the schema's top level. */
export function aliasNotes({ properties = {} }: JsonSchema, aliases: Aliases = {}): string {
  const others = Object.entries(aliases).filter(([name]) => !Object.hasOwn(properties, name));
  if (others.length === 0) return "";
  return `Other spellings: ${others.map(([name, names]) => `\`${name}\` as ${list(names)}`).join("; ")}.`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
