import { cutText } from "../../network/cut-text.ts";
import type { LinkPreview } from "../../network/driver.ts";
import { readPageSummary } from "../../platform/open-graph.ts";
import { toPreviewImage } from "../../platform/preview-image.ts";
import type { FetchOutcome, OutgoingRequest, SafeFetch } from "../../platform/safe-fetch.ts";
import { withinTime } from "../../platform/within-time.ts";

/** Longest time that a preview may hold up its send. */
const TOTAL_MS = 2_500;
const PAGE_BYTES = 256 * 1024;
const IMAGE_BYTES = 1024 * 1024;
const REDIRECTS_MAX = 3;
const URL_MAX = 2048;
const TITLE_MAX = 300;
const DESCRIPTION_MAX = 600;
/** Each holds a page and a picture in memory. */
const AT_ONCE = 16;

let underWay = 0;

export interface LinkPreviewOptions {
  outgoing: SafeFetch;
  tenant: OutgoingRequest["tenant"];
}

/** The preview of the first link of a text; undefined when there is none, or it is not there in time. */
export async function fetchLinkPreview(
  text: string,
  options: LinkPreviewOptions,
): Promise<LinkPreview | undefined> {
  const link = firstLink(text);
  if (link === undefined || underWay >= AT_ONCE) return undefined;
  underWay += 1;
  const ended = new AbortController();
  try {
    const fetching = readPreview(link, new Reader(options, ended.signal));
    return await withinTime(
      fetching.catch(() => undefined),
      TOTAL_MS,
    );
  } finally {
    underWay -= 1;
    ended.abort();
  }
}

/** Without what belongs to the sentence around it. */
export function firstLink(text: string): string | undefined {
  const start = text.search(/https?:\/\//i);
  if (start < 0) return undefined;
  const [word = ""] = text.slice(start, start + URL_MAX + 1).split(/[\s<>"]/, 1);
  if (word.length > URL_MAX) return undefined;
  let end = word.length;
  while (end > 0 && ".,;:!?)]}'*_~".includes(word[end - 1] ?? "")) end -= 1;
  const link = word.slice(0, end);
  return URL.canParse(link) ? link : undefined;
}

async function readPreview(link: string, reader: Reader): Promise<LinkPreview | undefined> {
  const page = await reader.get(link, PAGE_BYTES);
  if (!page || !/^text\/html|^application\/xhtml\+xml/i.test(page.type)) return undefined;
  const { title, description, image } = readPageSummary(decode(page.body, page.type));
  if (!title) return undefined;
  const thumbnail = image && (await readImage(image, page.url, reader));
  return {
    url: link,
    title: cutText(title, TITLE_MAX),
    ...(description && { description: cutText(description, DESCRIPTION_MAX) }),
    ...(thumbnail && { thumbnail }),
  };
}

async function readImage(address: string, base: string, reader: Reader): Promise<string | undefined> {
  if (!URL.canParse(address, base)) return undefined;
  const found = await reader.get(new URL(address, base).href, IMAGE_BYTES);
  if (!found || found.truncated) return undefined;
  return (await toPreviewImage(found.body))?.toString("base64");
}

interface Found {
  url: string;
  type: string;
  body: Buffer;
  truncated: boolean;
}

/** Gets what belongs to one preview, all within one deadline; each redirect is an address of its own to the policy. */
class Reader {
  readonly #options: LinkPreviewOptions;
  readonly #signal: AbortSignal;
  readonly #endAt = performance.now() + TOTAL_MS;

  constructor(options: LinkPreviewOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async get(address: string, maxBytes: number): Promise<Found | undefined> {
    let url = address;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const outcome = await this.#fetch(url, maxBytes);
      if (outcome?.outcome !== "response") return undefined;
      const { status, headers, body, truncated } = outcome;
      if (status === 200) return { url, type: headers["content-type"] ?? "", body, truncated };
      const { location } = headers;
      if (status < 300 || status > 399 || !location || !URL.canParse(location, url)) return undefined;
      url = new URL(location, url).href;
    }
    return undefined;
  }

  async #fetch(url: string, maxBytes: number): Promise<FetchOutcome | undefined> {
    const totalMs = Math.floor(this.#endAt - performance.now());
    if (totalMs <= 0 || url.length > URL_MAX) return undefined;
    const { outgoing, tenant } = this.#options;
    const headers = { accept: "text/html, image/*;q=0.9", "accept-encoding": "identity" };
    return outgoing.fetch({ url, method: "GET", headers, totalMs, maxBytes, tenant, signal: this.#signal });
  }
}

function decode(body: Buffer, type: string): string {
  const [, charset = "utf-8"] = /charset="?([\w-]{1,40})/i.exec(type) ?? [];
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
