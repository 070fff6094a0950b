/** The value at a dotted path, own properties only. */
export function readPath(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** Whether a field was sent, and not as null. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
