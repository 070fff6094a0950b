const LINE_WIDTH = 1200;

const EXAMPLES = new Set(["example", "examples"]);

/**
 * Prints an OpenAPI document: what fits into a line is on one line, since most of its objects are small. An example is
 * on one line in any case.
 */
export function formatOpenApi(document: Readonly<Record<string, unknown>>): string {
  return `${format(document, "", 0)}\n`;
}

/** `before`: characters of the line that stand before the value, besides the indentation. */
function format(value: unknown, indent: string, before: number): string {
  const line = JSON.stringify(value);
  const isLeaf = typeof value !== "object" || value === null;
  if (isLeaf || indent.length + before + line.length <= LINE_WIDTH) return line;
  const inner = `${indent}\t`;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const lines = fieldsOf(value).map(([key, item]) => {
    const name = Array.isArray(value) ? "" : `${JSON.stringify(key)}: `;
    // The comma counts, too.
    const text = EXAMPLES.has(key) ? JSON.stringify(item) : format(item, inner, name.length + 1);
    return `${inner}${name}${text}`;
  });
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

/** As in JSON, an undefined field is absent. */
function fieldsOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined);
}
