/** Template values, such as `contact.name`. */
export type Drops = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const TOKEN = /(\{%.*?%\}|\{\{.*?\}\}?)/s;
const TAG = /^\{%-?\s*(\w+).*?-?%\}$/s;
/** Only its own end tag closes a raw block, whatever precedes it in the token. */
const END_OF_RAW = /^(.*)\{%-?\s*endraw\s*.*?-?%\}$/s;
const OUTPUT = /^\{\{-?\s*(.*?)\s*-?\}\}$/s;
/** Known tags without output of their own. */
const KNOWN_TAGS = new Set(["assign", "capture", "case", "comment", "cycle", "for", "if", "unless"]);

/**
 * The part of Liquid that chat texts use: `raw`, outputs with filters, and syntax errors, which are thrown. Unknown
 * values are empty, as in Liquid.
 */
export function renderLiquid(template: string, drops: Drops): string {
  let rendered = "";
  let raw: string | undefined;
  for (const token of template.split(TOKEN)) {
    const end = raw === undefined ? undefined : END_OF_RAW.exec(token);
    if (end) {
      rendered += `${raw}${end[1]}`;
      raw = undefined;
    } else if (raw !== undefined) raw += token;
    else if (token.startsWith("{%")) raw = openTag(token);
    else rendered += renderToken(token, drops);
  }
  if (raw !== undefined) throw new SyntaxError("'raw' tag was never closed");
  return rendered;
}

function renderToken(token: string, drops: Drops): string {
  if (token.startsWith("{{")) return renderOutput(token, drops);
  if (/\{\{|\{%/.test(token)) throw new SyntaxError("A mark was not closed.");
  return token;
}

function openTag(token: string): string | undefined {
  const [, name = ""] = TAG.exec(token) ?? [];
  if (name === "raw") return "";
  if (!KNOWN_TAGS.has(name)) throw new SyntaxError(`Unknown tag '${name}'`);
  return undefined;
}

function renderOutput(token: string, drops: Drops): string {
  const [, markup] = OUTPUT.exec(token) ?? [];
  if (markup === undefined) throw new SyntaxError(`Variable '${token}' was not properly terminated`);
  const [expression = "", ...filters] = markup.split("|").map((part) => part.trim());
  return filters.reduce(applyFilter, evaluate(expression, drops));
}

function evaluate(expression: string, drops: Drops): string {
  const [, , text] = /^(["'])(.*)\1$/s.exec(expression) ?? [];
  if (text !== undefined) return text;
  const [drop = "", name = ""] = expression.split(".");
  return String(drops[drop]?.[name] ?? "");
}

function applyFilter(value: string, filter: string): string {
  return filter === "url_decode" ? decodeURIComponent(value.replaceAll("+", " ")) : value;
}
