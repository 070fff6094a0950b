/** What a page says of itself for previews. */
export interface PageSummary {
  title?: string;
  description?: string;
  /** As the page writes it, perhaps relative. */
  image?: string;
}

const TAG_MAX = 4096;
const TAGS_MAX = 500;
const VALUE_MAX = 2048;

const FIELDS: Readonly<Record<string, keyof PageSummary>> = {
  "og:title": "title",
  "twitter:title": "title",
  "og:description": "description",
  description: "description",
  "twitter:description": "description",
  "og:image": "image",
  "og:image:url": "image",
  "og:image:secure_url": "image",
  "twitter:image": "image",
};

/** Reads the first of each `meta` tag for previews, and else the `title`, in linear time; not a parser of HTML. */
export function readPageSummary(html: string): PageSummary {
  const summary: PageSummary = {};
  let at = 0;
  for (let tags = 0; tags < TAGS_MAX; tags++) {
    const start = html.indexOf("<", at);
    if (start < 0) break;
    const isMeta = html.slice(start + 1, start + 6).toLowerCase() === "meta ";
    const isTitle = html.slice(start + 1, start + 6).toLowerCase() === "title";
    at = start + 1;
    if (isMeta) readMeta(html.slice(start + 6, start + TAG_MAX), summary);
    else if (isTitle) readTitle(html.slice(start + 6, start + TAG_MAX), summary);
    else tags--;
  }
  return summary;
}

function readMeta(rest: string, summary: PageSummary): void {
  const attributes = readAttributes(rest);
  const name = (attributes.get("property") ?? attributes.get("name") ?? "").toLowerCase();
  const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  const value = plain(attributes.get("content") ?? "");
  // A title of its own stands behind that for previews.
  if (field && value && (summary[field] === undefined || name === `og:${field}`)) summary[field] = value;
}

function readTitle(rest: string, summary: PageSummary): void {
  const end = rest.indexOf("<");
  const value = plain(rest.slice(rest.indexOf(">") + 1, end < 0 ? undefined : end));
  if (value && summary.title === undefined) summary.title = value;
}

/** Up to the `>` that ends the tag. */
function readAttributes(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  const attribute = /([^\s"'<>/=]{1,40})(?:=(?:"([^"]*)"|'([^']*)'|([^\s"'<>]{1,2048})))?|>/y;
  let at = 0;
  while (at < text.length) {
    attribute.lastIndex = at;
    const found = attribute.exec(text);
    if (found?.[0] === ">") break;
    if (found?.[1]) {
      const name = found[1].toLowerCase();
      if (!attributes.has(name)) attributes.set(name, found[2] ?? found[3] ?? found[4] ?? "");
    }
    at = found ? attribute.lastIndex : at + 1;
  }
  return attributes;
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", hellip: "…", ndash: "–", mdash: "—" },
};

/** One line of text, with its character references resolved. */
function plain(value: string): string {
  return value
    .slice(0, VALUE_MAX)
    .replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,6}));/g, (whole, decimal, hex, name) => {
      if (name) return ENTITIES[name] ?? whole;
      const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
      return code > 31 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
        ? String.fromCodePoint(code)
        : " ";
    })
    .replace(/\s/g, " ")
    .split(" ")
    .filter((word) => word !== "")
    .join(" ");
}
