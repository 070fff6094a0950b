type Json = Record<string, unknown>;

/**
 * Replaces each parameter that several operations have by a reference, and returns the components. The name is
 * that of the parameter and its place, such as `LimitQuery`. Of parameters with the same name and place, the
 * most frequent one becomes the component.
 */
export function shareParameters(operations: readonly { parameters?: Json[] }[]): Record<string, Json> {
  const uses = new Map<string, number>();
  for (const { parameters = [] } of operations)
    for (const parameter of parameters) {
      const content = JSON.stringify(parameter);
      if (!("$ref" in parameter)) uses.set(content, (uses.get(content) ?? 0) + 1);
    }
  const components = new Map<string, string>();
  for (const [content, count] of [...uses].toSorted(([, one], [, other]) => other - one)) {
    const name = componentName(JSON.parse(content));
    if (count > 1 && !components.has(name)) components.set(name, content);
  }
  for (const operation of operations.filter(({ parameters }) => parameters))
    operation.parameters = operation.parameters?.map((parameter) => {
      const name = componentName(parameter);
      const isShared = components.get(name) === JSON.stringify(parameter);
      return isShared ? { $ref: `#/components/parameters/${name}` } : parameter;
    });
  return Object.fromEntries(
    [...components]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, content]) => [name, JSON.parse(content)]),
  );
}

function componentName({ name, in: place }: Json): string {
  const words = `${name}_${place}`.split("_");
  return words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("");
}
