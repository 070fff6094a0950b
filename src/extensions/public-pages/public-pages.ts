import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../../platform/gateway-error.ts";
import { CompressedCopies } from "../../platform/http/cached/compressed-copies.ts";
import { type Handlers, RawResponse } from "../../platform/http/handler.ts";
import { packageRoot } from "../../platform/package-version.ts";
import type { publicPagesContract } from "./contract.ts";
import { createGuide, type GuideEvents } from "./guide.ts";
import { FIRST_PAGE } from "./guide-pages.ts";
import { DOCS_PAGE, HOME_PAGE, START_SCRIPT } from "./home-page.ts";
import { LINK_PAGE, LINK_STYLE } from "./link-page.ts";
import { LINK_SCRIPT } from "./link-script.ts";
import { FAVICON, PAGE_STYLE } from "./page-layout.ts";
import { GUIDE_POLICY, LINK_POLICY, PAGE_POLICY, REFERENCE_POLICY } from "./page-policies.ts";
import { postmanCollection } from "./postman-collection.ts";
import { textHandlers } from "./text-handlers.ts";

/** Adds copy buttons to samples; pages also work without it. */
const GUIDE_SCRIPT = `if (navigator.clipboard) for (const pre of document.querySelectorAll(".sample pre")) {
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

export { escapeHtml, pageLayout } from "./page-layout.ts";

const HTML = "text/html; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";
const CSS = "text/css; charset=utf-8";
const SVG = "image/svg+xml";
const SCRIPT = "text/javascript; charset=utf-8";

/** The only files of Swagger UI that the gateway serves. The build copies them. */
const PACKAGE_FILES = new Map([
  ["swagger-ui.css", CSS],
  ["swagger-ui-bundle.js", SCRIPT],
]);
const OWN_FILES = new Map([
  ["page.css", { type: CSS, text: PAGE_STYLE }],
  ["start.js", { type: SCRIPT, text: START_SCRIPT }],
  ["guide.js", { type: SCRIPT, text: GUIDE_SCRIPT }],
  ["icon.svg", { type: SVG, text: FAVICON }],
  ["link.css", { type: CSS, text: LINK_STYLE }],
  ["link.js", { type: SCRIPT, text: LINK_SCRIPT }],
]);

const NOT_STORED = { "cache-control": "no-store", "x-frame-options": "DENY", "x-robots-tag": "noindex" };
/** Depends on the client, so that no cache may return one's answer to the other. */
const HOME = { "cache-control": "no-cache", vary: "accept" };
/** Short, since an upgrade changes pages and files together. */
const CACHED = { "cache-control": "public, max-age=300" };

export interface PublicPagesOptions {
  dataDir: string;
  recorded: GuideEvents;
  /** Where `/` leads browsers; unset: it shows a page of its own. */
  panelPath?: string;
}

/** Serves the pages and the API description; `describe` returns the OpenAPI document. */
export function publicPagesHandlers(
  describe: () => string,
  { dataDir, recorded, panelPath }: PublicPagesOptions,
): Handlers<typeof publicPagesContract> {
  const description = once(describe);
  const collection = once(() => JSON.stringify(postmanCollection(JSON.parse(description()))));
  const guide = createGuide(recorded);
  const copies = new CompressedCopies();
  return {
    home: async ({ headers }) => {
      const isBrowser = String(headers.accept).includes("text/html");
      return panelPath !== undefined && isBrowser
        ? redirect(panelPath)
        : toPage(HOME_PAGE, PAGE_POLICY, HOME);
    },
    docs: ({ headers }) => copies.respond("docs", toPage(DOCS_PAGE, REFERENCE_POLICY), headers),
    openApi: ({ headers }) => copies.respond("openapi.json", toJson(description()), headers),
    postman: ({ headers }) => copies.respond("postman.json", toJson(collection()), headers),
    guide: async ({ headers }) =>
      copies.respond(FIRST_PAGE, toPage(await guide.page(FIRST_PAGE), GUIDE_POLICY), headers),
    searchGuide: async ({ input }) => toPage(await guide.search(input.q), GUIDE_POLICY),
    guidePage: async ({ input: { page }, headers }) =>
      copies.respond(page, toPage(await guide.page(page), GUIDE_POLICY), headers),
    docsAsset: async ({ input: { file }, headers }) =>
      copies.respond(`assets/${file}`, await readAsset(file), headers),
    linkPage: async () => toPage(LINK_PAGE, LINK_POLICY, NOT_STORED),
    favicon: async () => readAsset("icon.svg"),
    ...textHandlers({ dataDir, packageRoot: packageRoot() }, copies),
  };
}

function once(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
}

function toPage(
  html: string,
  policy: string = PAGE_POLICY,
  headers: Record<string, string> = CACHED,
): RawResponse {
  return new RawResponse(HTML, html, 200, { ...headers, "content-security-policy": policy });
}

function toJson(text: string): RawResponse {
  return new RawResponse(JSON_TYPE, text, 200, CACHED);
}

function redirect(location: string): RawResponse {
  return new RawResponse(HTML, "", 302, { ...HOME, location });
}

async function readAsset(file: string): Promise<RawResponse> {
  const own = OWN_FILES.get(file);
  if (own) return new RawResponse(own.type, own.text, 200, CACHED);
  const type = PACKAGE_FILES.get(file);
  if (!type) throw new GatewayError("NOT_FOUND", "There is no such file.");
  return new RawResponse(type, await readFile(join(packageRoot(), "dist/reference-ui", file)), 200, CACHED);
}
