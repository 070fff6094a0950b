/** What formatting never reaches into: code, and addresses, whose underscores are part of them. */
const UNTOUCHED = /(```[\s\S]*?```|`[^`\n]+`|https?:\/\/[^\s<>)]+)/g;

/** WhatsApp's marks as Markdown; `_` says the same in both. */
export function toMarkdown(text: string): string {
  return outside(text, (part) => part.replace(marked("\\*"), "$1**$2**").replace(marked("~"), "$1~~$2~~"));
}

/** Markdown as an agent's editor writes it, as WhatsApp's marks. */
export function toWhatsApp(markdown: string): string {
  const unbroken = markdown.replace(/\\\n/g, "\n");
  const linked = outside(unbroken, withoutEscapes, /(```[\s\S]*?```|`[^`\n]+`)/g);
  return outside(linked, (part) =>
    part
      .replace(/(^|[^\w*])\*(?!\*|\s)([^*\n]+?)(?<!\s)\*(?![\w*])/g, "$1_$2_")
      .replace(/\*\*(?=\S)([^\n]+?)(?<=\S)\*\*/g, "*$1*")
      .replace(/~~(?=\S)([^\n]+?)(?<=\S)~~/g, "~$1~"),
  ).trim();
}

/** A mark at the edge of a word on both sides, on one line. */
function marked(mark: string): RegExp {
  return new RegExp(
    `(^|[^\\w${mark}])${mark}(?!\\s|${mark})([^${mark}\\n]+?)(?<!\\s)${mark}(?![\\w${mark}])`,
    "g",
  );
}

/** Links with words, and the backslashes that Markdown puts before its marks. */
function withoutEscapes(part: string): string {
  return part
    .replace(/\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)/g, (_, words: string, url: string) =>
      words === url ? url : `${words} (${url})`,
    )
    .replace(/\\([\\`*_{}[\]()#+\-.!~>])/g, "$1");
}

function outside(text: string, change: (part: string) => string, untouched = UNTOUCHED): string {
  return text
    .split(untouched)
    .map((part, place) => (place % 2 === 1 ? part : change(part)))
    .join("");
}
