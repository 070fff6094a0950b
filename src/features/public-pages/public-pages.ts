import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { GatewayError } from "../../platform/errors.ts";
import { type Handlers, RawAnswer } from "../../platform/handler.ts";
import type { publicPagesContract } from "./contract.ts";
import { DOCS_PAGE, HOME_PAGE, PAGE_STYLE, START_SCRIPT } from "./pages.ts";

const HTML = "text/html; charset=utf-8";
const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

/** Files of the npm package that may be asked for; nothing else of the disk can. */
const PACKAGE_FILES = new Map([
  ["swagger-ui.css", CSS],
  ["swagger-ui-bundle.js", SCRIPT],
  ["favicon-32x32.png", "image/png"],
]);
const OWN_FILES = new Map([
  ["page.css", { type: CSS, text: PAGE_STYLE }],
  ["start.js", { type: SCRIPT, text: START_SCRIPT }],
]);

const PAGE_HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cache-control": "no-cache",
};
const ASSET_HEADERS = { "cache-control": "public, max-age=3600" };

/** The pages for people and the description for machines; `document` is the OpenAPI document of the whole contract. */
export function publicPagesHandlers(document: Record<string, unknown>): Handlers<typeof publicPagesContract> {
  const description = JSON.stringify(document);
  return {
    home: async () => new RawAnswer(HTML, HOME_PAGE, 200, PAGE_HEADERS),
    docs: async () => new RawAnswer(HTML, DOCS_PAGE, 200, PAGE_HEADERS),
    openApi: async () =>
      new RawAnswer("application/json; charset=utf-8", description, 200, { "cache-control": "no-cache" }),
    docsAsset: async ({ input }) => readAsset(input.file),
  };
}

async function readAsset(file: string): Promise<RawAnswer> {
  const own = OWN_FILES.get(file);
  if (own) return new RawAnswer(own.type, own.text, 200, ASSET_HEADERS);
  const type = PACKAGE_FILES.get(file);
  if (!type) throw new GatewayError("NOT_FOUND", "There is no such file.");
  return new RawAnswer(type, await readFile(join(packageFolder(), file)), 200, ASSET_HEADERS);
}

function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
}
