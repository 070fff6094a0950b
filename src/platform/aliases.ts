import type { Aliases } from "./route.ts";

/** The fields with every canonical name filled in from the first alias that is given, where it is itself absent or null. */
export function resolveAliases(
  fields: Readonly<Record<string, unknown>>,
  aliases: Aliases | undefined,
): Record<string, unknown> {
  const resolved = { ...fields };
  for (const [name, others] of Object.entries(aliases ?? {})) {
    if (isGiven(readPath(fields, name))) continue;
    const value = others.map((other) => readPath(fields, other)).find(isGiven);
    if (value !== undefined) resolved[name] = value;
  }
  return resolved;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The value at a dotted path, own properties only. */
export function readPath(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}
