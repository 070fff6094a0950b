import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Marked, type Tokens } from "marked";
import { GatewayError } from "../../platform/errors.ts";
import { packageRoot } from "../../platform/version.ts";
import { escapeHtml, page } from "./layout.ts";

/** The pages of the guide in the order of their reading; each is a file of `docs/`. */
export const GUIDE = [
  { slug: "quick-start", title: "Quick start" },
  { slug: "install", title: "Installing" },
  { slug: "pairing", title: "Pairing a phone" },
  { slug: "sending", title: "Sending" },
  { slug: "asynchronous-sends", title: "Async and idempotency" },
  { slug: "media", title: "Media" },
  { slug: "contacts-and-chats", title: "Contacts and chats" },
  { slug: "webhooks", title: "Webhooks" },
  { slug: "verifying-webhooks", title: "Verifying webhooks" },
  { slug: "campaigns", title: "Campaigns" },
  { slug: "integrations", title: "Integrations" },
  { slug: "n8n", title: "n8n" },
  { slug: "typebot", title: "Typebot" },
  { slug: "chatwoot", title: "Chatwoot" },
  { slug: "assistant-tools", title: "Assistant tools" },
  { slug: "client", title: "Typed client" },
  { slug: "accounts", title: "Accounts" },
  { slug: "limits", title: "Limits" },
  { slug: "scaling", title: "Scaling" },
  { slug: "backups", title: "Backups" },
  { slug: "privacy", title: "Privacy" },
  { slug: "reliability", title: "Reliability" },
  { slug: "migration", title: "Coming from another gateway" },
  { slug: "sandbox", title: "The sandbox network" },
  { slug: "session-states", title: "States of a session" },
  { slug: "campaign-states", title: "States of a campaign" },
  { slug: "configuration", title: "Configuration" },
] as const;

/** Where a page of the guide is served. */
export function guidePath(slug: string): string {
  return slug === GUIDE[0].slug ? "/docs/waygate" : `/docs/waygate/${slug}`;
}

/** Renders pages of the guide from their Markdown, each once. */
export function createGuide(folder = join(packageRoot(), "docs")) {
  const rendered = new Map<string, Promise<string>>();

  return async (slug: string): Promise<string> => {
    const found = GUIDE.find((one) => one.slug === slug);
    if (!found) throw new GatewayError("NOT_FOUND", "There is no such page.");
    const known = rendered.get(slug);
    if (known) return known;
    const fresh = render(folder, found);
    rendered.set(slug, fresh);
    fresh.catch(() => rendered.delete(slug));
    return fresh;
  };
}

async function render(folder: string, { slug, title }: (typeof GUIDE)[number]): Promise<string> {
  const text = await readFile(join(folder, `${slug}.md`), "utf8");
  const body = `<nav aria-label="Guide"><ul>${GUIDE.map((one) => entry(one, slug)).join("")}</ul></nav>
<main class="guide" id="content">
${toHtml(text)}
</main>`;
  return page({ title: `${title} · Waygate`, body });
}

function entry({ slug, title }: (typeof GUIDE)[number], current: string): string {
  const mark = slug === current ? ' aria-current="page"' : "";
  return `<li><a href="${guidePath(slug)}"${mark}>${escapeHtml(title)}</a></li>`;
}

/** Markdown of ours as HTML: no raw HTML passes, and links between documents become links between pages. */
export function toHtml(markdown: string): string {
  const marked = new Marked({ gfm: true, async: false });
  const ids = new Map<string, number>();
  marked.use({
    renderer: {
      html: () => "",
      image: ({ text }) => escapeHtml(text),
      link(token) {
        const words = this.parser.parseInline(token.tokens);
        const href = hrefOf(token.href);
        return href === undefined ? words : `<a href="${escapeHtml(href)}">${words}</a>`;
      },
      heading(token) {
        const id = headingId(token.text, ids);
        return `<h${token.depth} id="${id}">${this.parser.parseInline(token.tokens)}</h${token.depth}>\n`;
      },
      // What scrolls sideways must be reachable by keyboard.
      code: ({ text, lang }) =>
        `<pre tabindex="0"><code${lang ? ` class="language-${escapeHtml(lang)}"` : ""}>${escapeHtml(text)}</code></pre>\n`,
      table(token: Tokens.Table) {
        const row = (cells: Tokens.TableCell[], toCell: (html: string) => string) =>
          `<tr>${cells.map(({ tokens }) => toCell(this.parser.parseInline(tokens))).join("")}</tr>`;
        const td = (html: string) => `<td>${html}</td>`;
        // An empty cell heads nothing.
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

/** Undefined for a document that is no page of the guide. */
function hrefOf(href: string): string | undefined {
  if (/^(https:\/\/|#|\/)/.test(href)) return href;
  const [, slug, hash = ""] = /^(?:docs\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  const found = GUIDE.find((one) => one.slug === slug);
  return found && `${guidePath(found.slug)}${hash}`;
}

function headingId(text: string, taken: Map<string, number>): string {
  const plain = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replace(/\s+/g, "-");
  const count = taken.get(plain) ?? 0;
  taken.set(plain, count + 1);
  return count === 0 ? plain : `${plain}-${count}`;
}
