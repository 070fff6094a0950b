import { Marked, type Tokens } from "marked";
import { resolveGuideLink } from "./guide-pages.ts";
import { escapeHtml } from "./page-layout.ts";

/** Converts Markdown to HTML without raw HTML; links of `file` to other documents lead to their pages. */
export function markdownToHtml(markdown: string, file = "README.md"): string {
  const marked = new Marked({ gfm: true, async: false });
  const ids = new Map<string, number>();
  marked.use({
    renderer: {
      html: () => "",
      checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
      image: ({ text }) => escapeHtml(text),
      link(token) {
        const text = this.parser.parseInline(token.tokens);
        const href = resolveLink(file, token.href);
        return href === undefined ? text : `<a href="${escapeHtml(href)}">${text}</a>`;
      },
      heading(token) {
        const id = headingId(token.text, ids);
        return `<h${token.depth} id="${id}">${this.parser.parseInline(token.tokens)}</h${token.depth}>\n`;
      },
      // Keyboard users must be able to reach elements that scroll sideways.
      code: ({ text, lang }) =>
        lang === "mermaid"
          ? stateTable(text)
          : `<div class="sample"><pre tabindex="0"><code${lang ? ` class="language-${escapeHtml(lang)}"` : ""}>${escapeHtml(text)}</code></pre></div>\n`,
      table(token: Tokens.Table) {
        const row = (cells: Tokens.TableCell[], toCell: (html: string) => string) =>
          `<tr>${cells.map(({ tokens }) => toCell(this.parser.parseInline(tokens))).join("")}</tr>`;
        const td = (html: string) => `<td>${html}</td>`;
        // An empty cell is not a heading.
        const th = (html: string) => (html === "" ? td(html) : `<th scope="col">${html}</th>`);
        const hasHead = token.header.some(({ text }) => text !== "");
        const head = hasHead ? row(token.header, th) : "";
        const rows = token.rows.map((cells) => row(cells, td)).join("\n");
        return `<div class="wide" tabindex="0"><table>${head}${rows}</table></div>\n`;
      },
    },
  });
  return marked.parse(markdown) as string;
}

/** Converts a state diagram to a table, which needs no script and no picture. */
function stateTable(diagram: string): string {
  const rows = diagram.split("\n").flatMap((line) => {
    const [, from = "", to = "", when = ""] = /^ *(\S+) --> ([^\s:]+)(?:: (.*))?$/.exec(line) ?? [];
    if (to === "") return [];
    const begin = from === "[*]" ? "(new)" : `<code>${escapeHtml(from)}</code>`;
    return `<tr><td>${begin}</td><td><code>${escapeHtml(to)}</code></td><td>${escapeHtml(when)}</td></tr>`;
  });
  const head = '<tr><th scope="col">From</th><th scope="col">To</th><th scope="col">When</th></tr>';
  return `<div class="wide" tabindex="0"><table>${head}${rows.join("\n")}</table></div>\n`;
}

/** Undefined for a document that is not a page of the guide. */
function resolveLink(file: string, href: string): string | undefined {
  return /^(https:\/\/|#|\/)/.test(href) ? href : resolveGuideLink(file, href);
}

function headingId(text: string, usedIds: Map<string, number>): string {
  const plain = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replace(/\s+/g, "-");
  const count = usedIds.get(plain) ?? 0;
  usedIds.set(plain, count + 1);
  return count === 0 ? plain : `${plain}-${count}`;
}
