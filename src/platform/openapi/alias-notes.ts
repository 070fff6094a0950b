import type { Aliases } from "../http/route.ts";

/** Describes the aliases of the fields of a request; empty without any. */
export function aliasNotes(aliases: Aliases = {}): string {
  const fields = Object.entries(aliases).filter(([, others]) => others.length > 0);
  if (fields.length === 0) return "";
  return `Other spellings: ${fields.map(([name, others]) => `\`${name}\` as ${list(others)}`).join("; ")}.`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
