/** What a node of an OpenAPI document means: the component if it is a reference, otherwise the node itself. */
export function resolveReference<T extends object>(document: object, node: T | { $ref: string }): T {
  if (!("$ref" in node) || typeof node.$ref !== "string") return node as T;
  const found = node.$ref
    .slice("#/".length)
    .split("/")
    .reduce<unknown>((parent, key) => (parent as Record<string, unknown>)[key], document);
  return found as T;
}
