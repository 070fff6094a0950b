import type { Aliases } from "../http/route.ts";
import type { JsonSchema } from "./json-schemas.ts";

/** The schema with the other accepted spellings in the description of each field that it shows. */
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

/** What is left to say of aliases whose fields the schema does not show at its top. */
export function aliasNotes({ properties = {} }: JsonSchema, aliases: Aliases = {}): string {
  const others = Object.entries(aliases).filter(([name]) => !Object.hasOwn(properties, name));
  if (others.length === 0) return "";
  return `Other spellings: ${others.map(([name, names]) => `\`${name}\` as ${list(names)}`).join("; ")}.`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
