type Json = Record<string, unknown>;

/**
 * Replaces each parameter that several operations have by a reference, and returns the components. The name is
 * that of the parameter and its place, such as `LimitQuery`. Of parameters with the same name and place, the
 * most frequent one has this name, and the next one is `LimitQuery2`.
 */
export function shareParameters(operations: readonly { parameters?: Json[] }[]): Record<string, Json> {
  const uses = new Map<string, number>();
  for (const { parameters = [] } of operations)
    for (const parameter of parameters) {
      const content = JSON.stringify(parameter);
      if (!("$ref" in parameter)) uses.set(content, (uses.get(content) ?? 0) + 1);
    }
  /** Names, by content. */
  const components = new Map<string, string>();
  const shared = [...uses].filter(([, count]) => count > 1).toSorted(([, one], [, other]) => other - one);
  for (const [content] of shared)
    components.set(content, freeName(JSON.parse(content), new Set(components.values())));
  for (const operation of operations.filter(({ parameters }) => parameters))
    operation.parameters = operation.parameters?.map((parameter) => {
      const name = components.get(JSON.stringify(parameter));
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` };
    });
  return Object.fromEntries(
    [...components]
      .toSorted(([, one], [, other]) => (one < other ? -1 : 1))
      .map(([content, name]) => [name, JSON.parse(content)]),
  );
}

function freeName(parameter: Json, taken: ReadonlySet<string>): string {
  const name = componentName(parameter);
  let free = name;
  for (let nth = 2; taken.has(free); nth += 1) free = `${name}${nth}`;
  return free;
}

function componentName({ name, in: place }: Json): string {
  const words = `${name}_${place}`.split("_");
  return words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("");
}
