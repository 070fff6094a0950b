import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Marked, type Tokens } from "marked";
import { packageRoot } from "../../platform/config/package-version.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { findSections, type GuideSection, resultsHtml, searchTermsOf, sectionsOf } from "./guide-search.ts";
import { escapeHtml, pageLayout } from "./page-layout.ts";

/** The pages of the guide in the order of their reading; each is a file of `docs/`. */
export const GUIDE = [
  { slug: "quick-start", title: "Quick start", group: "Begin" },
  { slug: "install", title: "Installing", group: "Begin" },
  { slug: "pairing", title: "Pairing a phone", group: "Begin" },
  { slug: "sandbox", title: "The sandbox network", group: "Begin" },
  { slug: "migration", title: "Coming from another gateway", group: "Begin" },
  { slug: "sending", title: "Sending", group: "Messages" },
  { slug: "asynchronous-sends", title: "Async and idempotency", group: "Messages" },
  { slug: "media", title: "Media", group: "Messages" },
  { slug: "contacts-and-chats", title: "Contacts and chats", group: "Messages" },
  { slug: "campaigns", title: "Campaigns", group: "Messages" },
  { slug: "webhooks", title: "Webhooks", group: "Events" },
  { slug: "events", title: "Events and payloads", group: "Events", file: "events/README.md" },
  { slug: "verifying-webhooks", title: "Verifying webhooks", group: "Events" },
  { slug: "integrations", title: "Integrations", group: "Connect" },
  { slug: "n8n", title: "n8n", group: "Connect" },
  { slug: "typebot", title: "Typebot", group: "Connect" },
  { slug: "chatwoot", title: "Chatwoot", group: "Connect" },
  { slug: "assistant-tools", title: "Assistant tools", group: "Connect" },
  { slug: "client", title: "Typed client", group: "Connect" },
  { slug: "accounts", title: "Accounts", group: "Operate" },
  { slug: "limits", title: "Limits", group: "Operate" },
  { slug: "scaling", title: "Scaling", group: "Operate" },
  { slug: "backups", title: "Backups", group: "Operate" },
  { slug: "privacy", title: "Privacy", group: "Operate" },
  { slug: "reliability", title: "Reliability", group: "Operate" },
  { slug: "session-states", title: "States of a session", group: "Look up" },
  { slug: "campaign-states", title: "States of a campaign", group: "Look up" },
  { slug: "configuration", title: "Configuration", group: "Look up" },
] as const;

type GuideEntry = (typeof GUIDE)[number];

/** Where a page of the guide is served. */
export function guidePath(slug: string): string {
  return slug === GUIDE[0].slug ? "/docs/waygate" : `/docs/waygate/${slug}`;
}

/** Renders pages of the guide from their Markdown, each once, and searches them. */
export function createGuide(folder = join(packageRoot(), "docs")) {
  const rendered = new Map<GuideEntry, Promise<string>>();
  let sections: Promise<GuideSection[]> | undefined;

  function contentOf(entry: GuideEntry): Promise<string> {
    const known = rendered.get(entry);
    if (known) return known;
    const fresh = render(folder, entry);
    rendered.set(entry, fresh);
    fresh.catch(() => rendered.delete(entry));
    return fresh;
  }

  async function readSections(): Promise<GuideSection[]> {
    const pages = GUIDE.map(async (entry) =>
      sectionsOf(entry.title, guidePath(entry.slug), await contentOf(entry)),
    );
    return (await Promise.all(pages)).flat();
  }

  return {
    async page(slug: string): Promise<string> {
      const found = GUIDE.find((one) => one.slug === slug);
      if (!found) throw new GatewayError("NOT_FOUND", "There is no such page.");
      return frame(found.title, `${await contentOf(found)}\n${turnOf(found)}`, { current: slug });
    },

    async search(query: string): Promise<string> {
      sections ??= readSections().catch((error) => {
        sections = undefined;
        throw error;
      });
      const words = searchTermsOf(query);
      const found = findSections(await sections, words);
      return frame("Search", resultsHtml(query, found, words), { query });
    },
  };
}

async function render(folder: string, entry: GuideEntry): Promise<string> {
  const file = "file" in entry ? entry.file : `${entry.slug}.md`;
  const text = await readFile(join(folder, file), "utf8");
  return toHtml(`${text}${entry.slug === "events" ? await readPayloads(join(folder, "events")) : ""}`);
}

interface GuideView {
  /** The page that is shown. */
  current?: string;
  /** What was searched. */
  query?: string;
}

function frame(title: string, content: string, view: GuideView): string {
  const body = `${navigation(view)}
<main class="guide" id="content">
${content}
</main>
<script src="/docs/assets/guide.js"></script>`;
  return pageLayout({ title: `${title} · Waygate`, body });
}

function navigation({ current = "", query = "" }: GuideView): string {
  const search = `<form role="search" action="/docs/waygate/search"><input type="search" name="q" aria-label="Search the guide"
placeholder="Search the guide" maxlength="200" value="${escapeHtml(query)}"><button type="submit">Search</button></form>`;
  const groups = [...new Set(GUIDE.map(({ group }) => group))].map((group) => {
    const entries = GUIDE.filter((one) => one.group === group).map((one) => entry(one, current));
    return `<p>${group}</p><ul>${entries.join("")}</ul>`;
  });
  return `<nav class="pages" aria-label="Guide">${search}<details><summary>Pages of the guide</summary>${groups.join("")}</details></nav>`;
}

function entry({ slug, title }: GuideEntry, current: string): string {
  const mark = slug === current ? ' aria-current="page"' : "";
  return `<li><a href="${guidePath(slug)}"${mark}>${escapeHtml(title)}</a></li>`;
}

/** Links to the pages before and after. */
function turnOf(found: GuideEntry): string {
  const index = GUIDE.indexOf(found);
  const [before, after] = [GUIDE[index - 1], GUIDE[index + 1]];
  const links = [
    before && `<a rel="prev" href="${guidePath(before.slug)}">Before: ${escapeHtml(before.title)}</a>`,
    after && `<a rel="next" href="${guidePath(after.slug)}">Next: ${escapeHtml(after.title)}</a>`,
  ];
  return `<nav class="turn" aria-label="Before and next">${links.filter(Boolean).join("")}</nav>`;
}

/** The payloads beside the page of the events, as a part of it. */
async function readPayloads(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => /^[a-z]+\.[a-z_]+\.json$/.test(name)).sort();
  const parts = names.map(
    async (name) =>
      `### ${name.slice(0, -5)}\n\n\`\`\`json\n${await readFile(join(folder, name), "utf8")}\`\`\`\n`,
  );
  return `\n## Payloads\n\n${(await Promise.all(parts)).join("\n")}`;
}

/** Copies samples; a page without it reads as well. */
export const GUIDE_SCRIPT = `if (navigator.clipboard) for (const pre of document.querySelectorAll(".sample pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  pre.parentElement.append(button);
}
const pages = document.querySelector("nav.pages details");
const wide = matchMedia("(min-width: 60rem)");
const follow = () => { pages.open = wide.matches; };
wide.addEventListener("change", follow);
follow();
`;

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
        lang === "mermaid"
          ? stateTable(text)
          : `<div class="sample"><pre tabindex="0"><code${lang ? ` class="language-${escapeHtml(lang)}"` : ""}>${escapeHtml(text)}</code></pre></div>\n`,
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

/** A state diagram as a table, which needs neither a script nor a picture. */
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

/** Undefined for a document that is no page of the guide. */
function hrefOf(href: string): string | undefined {
  if (/^(https:\/\/|#|\/)/.test(href)) return href;
  if (/^events\/(README\.md)?$/.test(href)) return guidePath("events");
  const [, payload] = /^([a-z]+\.[a-z_]+)\.json$/.exec(href) ?? [];
  if (payload !== undefined) return `#${headingId(payload, new Map())}`;
  if (href === "production-readiness.md") return "/docs/production-readiness.md";
  const [, slug, hash = ""] = /^(?:\.\.\/|docs\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
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
