import { truncateText } from "../../../../network/content/truncate-text.ts";
import type { LinkPreview } from "../../../../network/driver.ts";
import { Semaphore } from "../../../../platform/limits/semaphore.ts";
import { withTimeout } from "../../../../platform/limits/with-timeout.ts";
import { openImage } from "../../../../platform/media/open-image.ts";
import type { SafeFetch } from "../../../../platform/outgoing/safe-fetch.ts";

const SIDE = 192;

const MAX_PIXELS = 12_000_000;

const MAX_SECONDS = 2;

const MAX_BYTES = 16_384;

const FORMATS: ReadonlySet<string> = new Set(["jpeg", "png", "webp", "gif"]);

/** The longest delay of a send by its preview. */
const TOTAL_MS = 2_500;
const PAGE_BYTES = 256 * 1024;
const IMAGE_BYTES = 1024 * 1024;
const URL_MAX = 2048;
const TITLE_MAX = 300;
const DESCRIPTION_MAX = 600;
/** Each preview holds a page and a picture in memory until all its requests have ended. */
const slots = new Semaphore({ limit: 16, limitPerKey: 4 });

export interface LinkPreviewOptions {
  outgoing: SafeFetch;
  tenant: { account_id: number };
  totalMs?: number;
}

/** The preview of the first link of a text; undefined if there is none, or if it does not arrive in time. */
export async function fetchLinkPreview(
  text: string,
  options: LinkPreviewOptions,
): Promise<LinkPreview | undefined> {
  const link = firstLink(text);
  if (link === undefined) return undefined;
  const { totalMs = TOTAL_MS } = options;
  const endAt = performance.now() + totalMs;
  const signal = AbortSignal.timeout(totalMs);
  const reader = new Reader(options, signal, endAt);
  const reading = slots.use(() => readPreview(link, reader), { key: options.tenant.account_id, signal });
  return withTimeout(
    reading.catch(() => undefined),
    totalMs,
  );
}

/** Leaves out the punctuation of the surrounding sentence. */
export function firstLink(text: string): string | undefined {
  const start = text.search(/https?:\/\//i);
  if (start < 0) return undefined;
  const [candidate = ""] = text.slice(start, start + URL_MAX + 1).split(/[\s<>"]/, 1);
  if (candidate.length > URL_MAX) return undefined;
  let end = candidate.length;
  while (end > 0 && ".,;:!?)]}'*_~".includes(candidate[end - 1] ?? "")) end -= 1;
  const link = candidate.slice(0, end);
  return URL.canParse(link) ? link : undefined;
}

async function readPreview(link: string, reader: Reader): Promise<LinkPreview | undefined> {
  const page = await reader.get(link, PAGE_BYTES);
  if (!page || !/^text\/html|^application\/xhtml\+xml/i.test(page.type)) return undefined;
  const { readPageSummary } = await import("./read-page-summary.ts");
  const { title, description, image } = readPageSummary(page.body, page.type);
  if (!title) return undefined;
  const thumbnail = image && (await readImage(image, page.url, reader));
  return {
    url: link,
    title: truncateText(title, TITLE_MAX),
    ...(description && { description: truncateText(description, DESCRIPTION_MAX) }),
    ...(thumbnail && { thumbnail }),
  };
}

async function readImage(address: string, base: string, reader: Reader): Promise<string | undefined> {
  if (!URL.canParse(address, base)) return undefined;
  const found = await reader.get(new URL(address, base).href, IMAGE_BYTES);
  if (!found || found.truncated) return undefined;
  return (await toPreviewImage(found.body))?.toString("base64");
}

interface FetchedPage {
  url: string;
  type: string;
  body: Buffer;
  truncated: boolean;
}

/** Fetches the parts of one preview within one deadline. */
class Reader {
  readonly #options: LinkPreviewOptions;
  readonly #signal: AbortSignal;
  readonly #endAt: number;

  constructor(options: LinkPreviewOptions, signal: AbortSignal, endAt: number) {
    this.#options = options;
    this.#signal = signal;
    this.#endAt = endAt;
  }

  async get(url: string, maxBytes: number): Promise<FetchedPage | undefined> {
    const totalMs = Math.floor(this.#endAt - performance.now());
    if (totalMs <= 0 || url.length > URL_MAX) return undefined;
    const { outgoing, tenant } = this.#options;
    const pieces: Buffer[] = [];
    const outcome = await outgoing.download({
      url,
      headers: { accept: "text/html, image/*;q=0.9, */*;q=0.1" },
      totalMs,
      maxBytes,
      isPartEnough: true,
      tenant,
      signal: this.#signal,
      onChunk: (piece) => void pieces.push(piece),
    });
    if (outcome.outcome !== "response" || outcome.status !== 200) return undefined;
    const { headers, truncated } = outcome;
    return { url: outcome.url, type: headers["content-type"] ?? "", body: Buffer.concat(pieces), truncated };
  }
}

/** A small JPEG of an image, at most 16 KiB, for a preview; undefined if it is no image or too large. */
async function toPreviewImage(bytes: Uint8Array): Promise<Buffer | undefined> {
  try {
    const { format, width, height } = await (await openImage(bytes, MAX_PIXELS)).metadata();
    if (!FORMATS.has(format) || width * height > MAX_PIXELS) return undefined;
    const source = await openImage(bytes, MAX_PIXELS);
    const image = await source
      .timeout({ seconds: MAX_SECONDS })
      .autoOrient()
      .resize(SIDE, SIDE, { fit: "inside", withoutEnlargement: true })
      .flatten({ background: "white" })
      .jpeg({ quality: 70 })
      .toBuffer();
    return image.byteLength <= MAX_BYTES ? image : undefined;
  } catch {
    return undefined;
  }
}
