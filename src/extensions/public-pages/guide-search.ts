import { escapeHtml, unescapeHtml } from "./page-layout.ts";

/** A part of a page of the guide, from one heading to the next. */
export interface GuideSection {
  /** Title of the page. */
  page: string;
  path: string;
  heading: string;
  text: string;
}

const MOST_RESULTS = 30;
const MOST_WORDS = 8;
const SNIPPET_CHARACTERS = 200;

/** Splits the rendered content of a page into sections. */
export function sectionsOf(page: string, path: string, html: string): GuideSection[] {
  return html.split(/(?=<h[1-6] id=")/).flatMap((part) => {
    const [head = "", id, heading = ""] = /^<h[1-6] id="([^"]*)">(.*)<\/h[1-6]>\n/.exec(part) ?? [];
    if (id === undefined) return [];
    return [
      { page, path: `${path}#${id}`, heading: plainText(heading), text: plainText(part.slice(head.length)) },
    ];
  });
}

function plainText(html: string): string {
  return unescapeHtml(html.replace(/<[^<>]*>/g, " "))
    .replace(/\s+/g, " ")
    .trim();
}

export function searchTermsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
}

/** Sections that contain every word; those with most words in the heading come first. */
export function findSections(sections: readonly GuideSection[], words: readonly string[]): GuideSection[] {
  if (words.length === 0) return [];
  const ranked = sections.flatMap((section) => {
    const heading = `${section.page} ${section.heading}`.toLowerCase();
    const text = section.text.toLowerCase();
    if (!words.every((word) => heading.includes(word) || text.includes(word))) return [];
    return [{ section, rank: words.filter((word) => heading.includes(word)).length }];
  });
  return ranked
    .sort((a, b) => b.rank - a.rank)
    .slice(0, MOST_RESULTS)
    .map(({ section }) => section);
}

/** Renders the search results as the content of a page. */
export function resultsHtml(query: string, found: readonly GuideSection[], words: readonly string[]): string {
  const title = `<h1 id="search">Search: ${escapeHtml(query)}</h1>`;
  if (words.length === 0)
    return `${title}\n<p>Type words that the guide may hold, such as <code>idempotency key</code>.</p>`;
  if (found.length === 0)
    return `${title}\n<p>No part of the guide has all of these words. Try fewer or shorter words, or look into the
<a href="/docs">reference</a>, which has every route and field.</p>`;
  const items = found.map(
    ({ page, path, heading, text }) =>
      `<li><a href="${escapeHtml(path)}">${escapeHtml(page === heading ? page : `${page}: ${heading}`)}</a>
<p>${snippetHtml(text, words)}</p></li>`,
  );
  return `${title}\n<ol class="results">${items.join("\n")}</ol>`;
}

/** The text around the first occurrence of any of the words. */
function snippetHtml(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - SNIPPET_CHARACTERS / 4);
  const part = text.slice(places.length === 0 ? 0 : from).slice(0, SNIPPET_CHARACTERS);
  return marked(part, words);
}

/** Marks every occurrence of the words. */
function marked(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  let html = "";
  for (let at = 0; at < text.length; ) {
    const word = words.find((one) => lower.startsWith(one, at));
    html +=
      word === undefined
        ? escapeHtml(text[at] ?? "")
        : `<mark>${escapeHtml(text.slice(at, at + word.length))}</mark>`;
    at += word?.length ?? 1;
  }
  return html;
}
