import { GUIDE, type GuidePage, guidePath, LEGAL_PAGES } from "./guide-pages.ts";
import { escapeHtml, pageLayout } from "./page-layout.ts";

interface GuideView {
  /** Slug of the displayed page, or path of a legal page. */
  current?: string;
  /** The search text. */
  query?: string;
}

/** A page next to the guide's navigation; `content` is HTML. */
export function guideLayout(title: string, content: string, view: GuideView): string {
  const body = `${navigationHtml(view)}
<main class="guide" id="content">
${content}
${neighboursHtml(view.current)}
</main>
<script src="/docs/assets/guide.js"></script>`;
  return pageLayout({ title: `${title} · Waygate`, body });
}

function navigationHtml({ current, query = "" }: GuideView): string {
  const search = `<form role="search" action="/docs/waygate/search"><input type="search" name="q" aria-label="Search the guide"
placeholder="Search the guide" maxlength="200" value="${escapeHtml(query)}"><button type="submit">Search</button></form>`;
  const groups = [...new Set(GUIDE.map(({ group }) => group))].map((group) => {
    const pages = GUIDE.filter((one) => one.group === group && isListed(one, current));
    return groupHtml(
      group,
      pages.map((page) => entryHtml(guidePath(page.slug), page.title, page.slug === current, page.parent)),
    );
  });
  const legal = Object.values(LEGAL_PAGES).map(({ path, title }) => entryHtml(path, title, path === current));
  return `<nav class="pages" aria-label="Guide">${search}<details><summary>Pages of the guide</summary>${groups.join("")}${groupHtml("Legal", legal)}</details></nav>`;
}

/** A subpage is listed while its parent or one of its siblings is displayed. */
function isListed({ parent }: GuidePage, current: string | undefined): boolean {
  if (parent === undefined || parent === current) return true;
  return GUIDE.some((page) => page.slug === current && page.parent === parent);
}

function groupHtml(title: string, entries: readonly string[]): string {
  return `<p>${title}</p><ul>${entries.join("")}</ul>`;
}

function entryHtml(path: string, title: string, isCurrent: boolean, parent?: string): string {
  return `<li${parent === undefined ? "" : ' class="below"'}><a href="${path}"${isCurrent ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a></li>`;
}

/** Links to the previous and the next page. */
function neighboursHtml(slug: string | undefined): string {
  const index = GUIDE.findIndex((page) => page.slug === slug);
  if (index === -1) return "";
  const link = (rel: string, label: string, page: GuidePage | undefined) =>
    page && `<a rel="${rel}" href="${guidePath(page.slug)}">${label}: ${escapeHtml(page.title)}</a>`;
  const links = [link("prev", "Before", GUIDE[index - 1]), link("next", "Next", GUIDE[index + 1])];
  return `<nav class="turn" aria-label="Before and next">${links.filter(Boolean).join("")}</nav>`;
}
