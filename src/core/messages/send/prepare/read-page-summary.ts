import { Parser } from "htmlparser2";
import { decodeText, decodeUtf16 } from "../../../../platform/text/decode-text.ts";

/** A page's declarations for previews. */
export interface PageSummary {
  title?: string;
  description?: string;
  /** As written in the page, possibly relative. */
  image?: string;
}

const HTML_MAX = 262_144;
/** Limits the number of tags, since each closing tag searches all open tags. */
const TAGS_MAX = 1_000;
const VALUE_MAX = 2_048;

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

/** Reads the `meta` tags for previews, or else the `title`, from the start of a page of this Content-Type. */
export function readPageSummary(page: Buffer, contentType = ""): PageSummary {
  const summary: PageSummary = {};
  let tags = 0;
  let title: string | undefined;
  const parser = new Parser({
    onopentag(name, attributes) {
      tags += 1;
      if (tags > TAGS_MAX) parser.pause();
      if (name === "meta") readMeta(attributes, summary);
      if (name === "title") title = "";
    },
    ontext(text) {
      if (title !== undefined && title.length < VALUE_MAX) title += text;
    },
    onclosetag(name) {
      if (name !== "title" || title === undefined) return;
      summary.title ??= toLine(title) || undefined;
      title = undefined;
    },
  });
  const start = page.subarray(0, HTML_MAX);
  parser.end(decodeUtf16(start) ?? decodeText(start, charsetOf(start, contentType), true));
  return summary;
}

/** The charset that the header declares, or else a `meta` tag. */
function charsetOf(start: Buffer, contentType: string): string | undefined {
  const declared = /charset\s*=\s*["']?([\w-]{1,40})/i;
  return (declared.exec(contentType) ?? declared.exec(start.toString("latin1", 0, 1024)))?.[1];
}

function readMeta(attributes: Readonly<Record<string, string>>, summary: PageSummary): void {
  const name = (attributes.property ?? attributes.name ?? "").toLowerCase();
  const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  const value = toLine(attributes.content ?? "");
  // The page's own title or description is the fallback for its preview tags.
  if (field && value && (summary[field] === undefined || name === `og:${field}`)) summary[field] = value;
}

/** Joins the text into one line. */
export function toLine(text: string): string {
  return text
    .slice(0, VALUE_MAX)
    .replace(/[\s\p{Cc}]/gu, " ")
    .split(" ")
    .filter((word) => word !== "")
    .join(" ");
}
