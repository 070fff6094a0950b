import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { z } from "zod";
import { GatewayError } from "../../platform/gateway-error.ts";
import { chooseEncoding, type Encoding } from "../../platform/http/cached/choose-encoding.ts";
import { isKnownEtag } from "../../platform/http/cached/is-known-etag.ts";
import { RawResponse } from "../../platform/http/handler.ts";
import type { FileRequest, FileRoute } from "../../platform/http/server/add-file-route.ts";
import { packageRoot } from "../../platform/package-version.ts";
import { pageLayout } from "../public-pages/public-pages.ts";

/** One file of the built panel. */
interface PanelFile {
  /** Below the folder of the panel, with slashes. */
  path: string;
  digest: string;
  /** Has a gzip and a brotli copy; the packages contain only these. */
  isCompressed: boolean;
}

/** What the build has listed: no other file can be read, whatever a request names. */
interface PanelFiles {
  find(path: string): PanelFile | undefined;
  read(file: PanelFile, encoding: Encoding): Promise<Buffer>;
}

const LISTING = z.array(z.object({ path: z.string(), digest: z.string(), isCompressed: z.boolean() }));

/** What a browser sees of a gateway that runs from a checkout without a built panel. */
const NOT_BUILT_PAGE = pageLayout({
  title: "The panel is not built · Waygate",
  body: `<main id="content">
<h1>The panel is not built</h1>
<p>This gateway runs from a checkout whose panel has not been built. The API works without it.</p>
<p>Build the panel in the checkout, then load this page again:</p>
<pre><code>npm ci
npm run build:panel</code></pre>
<p>Meanwhile: <a href="/docs/waygate">the guide</a> and <a href="/docs">the reference</a>.</p>
</main>`,
});

export const PANEL_PATH = "/panel";
const FIRST_PAGE = "index.html";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  md: "text/plain; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** Own scripts and styles, no inline ones; media of messages are `blob:`, and codes to scan are `data:`. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE_HEADERS = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy":
    "camera=(), display-capture=(), geolocation=(), microphone=(self), payment=(), serial=(), usb=()",
  "x-frame-options": "DENY",
};

/** A name has the hash of its content, so the content never changes. */
const ONE_YEAR = "public, max-age=31536000, immutable";

/** The files of the web panel, as built. Every other path is a page of it, unless it looks like one of a file. */
export function panelRoute(folder = join(packageRoot(), "dist/panel")): FileRoute {
  const readFiles = createPanelFilesReader(folder);
  return {
    path: PANEL_PATH,
    async serve(request) {
      const files = await readFiles();
      return files === undefined ? notBuilt() : serveFile(files, request);
    },
  };
}

async function serveFile(files: PanelFiles, { path, headers }: FileRequest): Promise<RawResponse> {
  const file = findFile(files, path);
  const encoding = file.isCompressed ? chooseEncoding(headers["accept-encoding"]) : "identity";
  const etag = `"${file.digest}-${encoding}"`;
  const common = {
    ...PAGE_HEADERS,
    etag,
    "cache-control": file.path.startsWith("assets/") ? ONE_YEAR : "no-cache",
    ...(file.isCompressed && { vary: "accept-encoding" }),
  };
  const type = typeOf(file);
  if (isKnownEtag(headers["if-none-match"], etag)) return new RawResponse(type, "", 304, common);
  const body = await files.read(file, encoding);
  const encoded: Record<string, string> = encoding === "identity" ? {} : { "content-encoding": encoding };
  return new RawResponse(type, body, 200, { ...common, ...encoded });
}

/** In `assets`, or with an extension. The address of a chat, such as `5511999990004@s.whatsapp.net`, has none. */
const FILE_NAME = /^assets\/|(^|\/)[^/@%]*\.[^/]*$/;

/** Throws NOT_FOUND for a file that the build does not list. */
function findFile(files: PanelFiles, path: string): PanelFile {
  const name = path.slice(PANEL_PATH.length).replace(/^\//, "");
  const found = files.find(FILE_NAME.test(name) ? name : FIRST_PAGE);
  if (!found) throw new GatewayError("NOT_FOUND", "There is no such file.");
  return found;
}

function typeOf({ path }: PanelFile): string {
  return TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}

function notBuilt(): RawResponse {
  const headers = { "content-security-policy": POLICY, "retry-after": "60" };
  return new RawResponse(TYPES.html ?? "", NOT_BUILT_PAGE, 503, headers);
}

/** Reads the list of a build again when it changes; undefined: the panel is not built. Keeps no contents in memory. */
function createPanelFilesReader(folder: string): () => Promise<PanelFiles | undefined> {
  let known: { mtimeMs: number; files: PanelFiles } | undefined;
  return async () => {
    const listing = join(folder, "files.json");
    const found = await stat(listing).catch(() => undefined);
    if (found === undefined) return undefined;
    if (known?.mtimeMs !== found.mtimeMs) {
      const rows = LISTING.parse(JSON.parse(await readFile(listing, "utf8")));
      known = { mtimeMs: found.mtimeMs, files: filesOf(folder, rows) };
    }
    return known.files;
  };
}

function filesOf(folder: string, rows: readonly PanelFile[]): PanelFiles {
  const byPath = new Map(rows.map((row) => [row.path, row]));
  return {
    find: (path) => byPath.get(path),
    async read({ path, isCompressed }, encoding) {
      const place = join(folder, path);
      if (!isCompressed) return readFile(place);
      if (encoding === "br") return readFile(`${place}.br`);
      const bytes = await readFile(`${place}.gz`);
      return encoding === "gzip" ? bytes : promisify(gunzip)(bytes);
    },
  };
}
