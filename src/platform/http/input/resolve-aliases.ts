import type { Aliases } from "../route.ts";

/** Fills each absent or null canonical field from its first given alias. */
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

/** The name that the request used for an input field (a dotted path): its own name, or an alias. */
export function nameAsSent(
  fields: Readonly<Record<string, unknown>>,
  path: string,
  aliases: Aliases | undefined,
): string {
  const [name = "", ...rest] = path.split(".");
  if (isGiven(readPath(fields, name))) return path;
  const alias = aliases?.[name]?.find((other) => isGiven(readPath(fields, other)));
  return alias === undefined ? path : [alias, ...rest].join(".");
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
