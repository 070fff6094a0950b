/** Formatting does not apply to code, or to URLs, which may contain underscores. */
const UNTOUCHED = /(```[\s\S]*?```|`[^`\n]+`|https?:\/\/[^\s<>)]+)/g;

/** A mark with a word edge on both sides, on one line. */
const BOLD = /(^|[^\w*])\*(?!\s|\*)([^*\n]+?)(?<!\s)\*(?![\w*])/g;
const STRUCK = /(^|[^\w~])~(?!\s|~)([^~\n]+?)(?<!\s)~(?![\w~])/g;

/** Converts WhatsApp's marks to Markdown; `_` means the same in both. */
export function toMarkdown(text: string): string {
  return outside(text, (part) => part.replace(BOLD, "$1**$2**").replace(STRUCK, "$1~~$2~~"));
}

/** Converts Markdown of an agent's editor to WhatsApp's marks. */
export function toWhatsAppMarkup(markdown: string): string {
  const unbroken = markdown.replace(/\\\n/g, "\n");
  const linked = outside(unbroken, withoutEscapes, /(```[\s\S]*?```|`[^`\n]+`)/g);
  return outside(linked, (part) => {
    const slanted = part.replace(/(^|[^\w*])\*(?!\*|\s)([^*\n]+?)(?<!\s)\*(?![\w*])/g, "$1_$2_");
    return replaceMark(replaceMark(slanted, "**", "*"), "~~", "~");
  }).trim();
}

/** Replaces a pair of marks on one line, where both touch a word. */
function replaceMark(text: string, mark: string, replacement: string): string {
  if (!text.includes(mark)) return text;
  return text
    .split("\n")
    .map((line) => replaceInLine(line.split(mark), mark, replacement))
    .join("\n");
}

/** `parts`: a line, split at the marks. A pattern would search for the end of the line at each mark. */
function replaceInLine(parts: readonly string[], mark: string, replacement: string): string {
  const closings = closingsOf(parts);
  let line = parts[0] ?? "";
  for (let at = 1; at < parts.length; at++) {
    const opens = /^\S/.test(parts[at] ?? "");
    const closing = opens ? closings[at] : undefined;
    if (closing === undefined) line += `${mark}${parts[at]}`;
    else {
      line += `${replacement}${parts.slice(at, closing + 1).join(mark)}${replacement}${parts[closing + 1]}`;
      at = closing + 1;
    }
  }
  return line;
}

/** For each part the next one, itself included, that a closing mark follows. */
function closingsOf(parts: readonly string[]): (number | undefined)[] {
  const closings: (number | undefined)[] = Array(parts.length).fill(undefined);
  for (let at = parts.length - 2; at > 0; at--)
    closings[at] = /\S/.test(parts[at]?.at(-1) ?? "") ? at : closings[at + 1];
  return closings;
}

/** Resolves links with text, and the backslashes that Markdown puts before its marks. */
function withoutEscapes(part: string): string {
  return expandLinks(part).replace(/\\([\\`*_{}[\]()#+\-.!~>])/g, "$1");
}

/** `[words](https://a.example)` as `words (https://a.example)`. */
function expandLinks(text: string): string {
  let spelt = "";
  let done = 0;
  let end = -1;
  for (const { index, 0: start, 1: words } of text.matchAll(/\[([^[\]\n]+)\]\((?=https?:\/\/)/g)) {
    const at = index + start.length;
    // If the URL does not end here, it does not end for the links inside it either.
    if (end < at) end = endOfAddress(text, at);
    if (index < done || text[end] !== ")") continue;
    const url = text.slice(at, end);
    spelt += text.slice(done, index) + (words === url ? url : `${words} (${url})`);
    done = end + 1;
  }
  return spelt + text.slice(done);
}

function endOfAddress(text: string, from: number): number {
  const stop = /[\s)]/g;
  stop.lastIndex = from;
  return stop.exec(text)?.index ?? text.length;
}

function outside(text: string, change: (part: string) => string, untouched = UNTOUCHED): string {
  return text
    .split(untouched)
    .map((part, index) => (index % 2 === 1 || part === "" ? part : change(part)))
    .join("");
}
