import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildDist } from "../../../test/run/build-dist.ts";
import { CompressedCopies } from "../../platform/http/cached/compressed-copies.ts";
import { RawResponse } from "../../platform/http/handler.ts";
import { createHttpServer, type HttpServer } from "../../platform/http/server/http-server.ts";
import { createLog } from "../../platform/log/log.ts";
import { packageVersion } from "../../platform/package-version.ts";
import { publicPagesContract } from "./contract.ts";
import { NOT_FOUND_PAGE } from "./home-page.ts";
import { publicPagesHandlers } from "./public-pages.ts";

beforeAll(buildDist);

const DOCUMENT = { openapi: "3.1.0", info: { version: "2.0.0" }, paths: {} };

let server: HttpServer;
let url = "";

beforeAll(async () => {
  server = await createHttpServer({
    contract: publicPagesContract,
    handlers: publicPagesHandlers(() => JSON.stringify(DOCUMENT), {
      dataDir: "/nowhere",
      recorded: { payloads: {}, formats: {} },
    }),
    authorise: async () => ({ kind: "public" }),
    log: createLog("silent"),
    strictOutput: true,
    bodyLimitBytes: 1000,
    notFoundPage: NOT_FOUND_PAGE,
  });
  ({ url } = await server.listen("127.0.0.1", 0));
});

afterAll(() => server.close());

test("the OpenAPI document is served without an envelope", async () => {
  const response = await fetch(`${url}/openapi.json`);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(await response.json()).toEqual(DOCUMENT);
});

/** A client that does not decompress. */
async function get(path: string, headers: Record<string, string> = {}) {
  const response = await server.inject({ method: "GET", url: path, headers });
  return { status: response.statusCode, headers: response.headers, bytes: response.rawPayload };
}

test.each([
  "/openapi.json",
  "/postman.json",
  "/docs",
  "/docs/waygate",
  "/docs/waygate/webhooks",
  "/docs/assets/swagger-ui-bundle.js",
  "/privacy",
  "/docs/production-readiness.md",
])("%s is compressed for a client that accepts it, and not sent again to one that has it", async (path) => {
  const plain = await get(path);
  const packed = await get(path, { "accept-encoding": "gzip, deflate" });
  const smallest = await get(path, { "accept-encoding": "gzip, br" });
  expect([plain, packed, smallest].map(({ headers }) => headers["content-encoding"])).toEqual(
    plain.bytes.length < 1024 ? [undefined, undefined, undefined] : [undefined, "gzip", "br"],
  );
  if (plain.bytes.length >= 1024) {
    expect(gunzipSync(packed.bytes)).toEqual(plain.bytes);
    expect(brotliDecompressSync(smallest.bytes)).toEqual(plain.bytes);
    expect(smallest.bytes.length).toBeLessThan(plain.bytes.length / 2);
  }
  expect(plain.headers.vary).toContain("accept-encoding");
  for (const { headers } of [plain, packed]) {
    const encoding = String(headers["content-encoding"] ?? "identity");
    for (const known of [`"other", W/${headers.etag}`, "*"]) {
      const again = await get(path, { "accept-encoding": encoding, "if-none-match": known });
      expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
    }
  }
  expect((await get(path, { "if-none-match": '"other"' })).status).toBe(200);
});

test("a description that has changed has another ETag", async () => {
  const copies = new CompressedCopies();
  const of = async (text: string, etag = "") => {
    const headers = { "accept-encoding": "gzip", "if-none-match": etag };
    const { status, body, headers: sent } = await copies.respond("x", new RawResponse("a/b", text), headers);
    return { status, text: status === 304 ? "" : String(gunzipSync(body as Buffer)), etag: sent.etag };
  };
  const before = await of("a".repeat(2000));
  const after = await of("b".repeat(2000), before.etag);
  expect(after).toMatchObject({ status: 200, text: "b".repeat(2000) });
  expect((await of("b".repeat(2000), after.etag)).status).toBe(304);
});

test.each(["/", "/docs", "/docs/"])(
  "the page %s refers to no other origin and to no missing file",
  async (path) => {
    const response = await fetch(`${url}${path}`);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(response.headers.get("content-security-policy")).not.toContain("http");
    const html = await response.text();
    expect(html).toContain('name="viewport"');
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
    const assets = [...html.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, asset]) => asset);
    expect(assets.length).toBeGreaterThan(1);
    for (const asset of assets) {
      const file = await fetch(`${url}${asset}`);
      expect(file.status, asset).toBe(200);
      expect(file.headers.get("x-content-type-options")).toBe("nosniff");
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  },
);

test("the script and the style of the reference have the types that a browser requires", async () => {
  const script = await fetch(`${url}/docs/assets/swagger-ui-bundle.js`);
  expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(await script.text()).toContain("SwaggerUIBundle");
  const style = await fetch(`${url}/docs/assets/page.css`);
  expect(style.headers.get("content-type")).toBe("text/css; charset=utf-8");
  expect(await style.text()).toContain("prefers-color-scheme: dark");
});

test.each([
  "package.json",
  "index.html",
  "swagger-ui.js",
  "..%2fpackage.json",
  "%2e%2e%2f%2e%2e%2fpackage.json",
  "constructor",
])("no other file is served: %s", async (file) => {
  const response = await fetch(`${url}/docs/assets/${file}`);
  expect(response.status).toBe(404);
  expect(((await response.json()) as { code: string }).code).toBe("NOT_FOUND");
});

test("the root and the assets are read-only", async () => {
  for (const path of ["/", "/docs/assets/page.css"]) {
    const response = await fetch(`${url}${path}`, { method: "POST" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  }
});

test("every link of every page leads to an existing page and an existing anchor", async () => {
  const elsewhere = new Set(["/health"]);
  /** Anchors of each page. */
  const pages = new Map<string, Set<string>>();
  const waiting = ["/", "/docs", "/terms", "/privacy", "/docs/production-readiness.md"];
  const dead: string[] = [];
  const links: [string, string][] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (pages.has(path) || elsewhere.has(path)) continue;
    const response = await fetch(`${url}${path}`, { headers: { accept: "text/html" } });
    const type = response.headers.get("content-type") ?? "";
    const text = await response.text();
    pages.set(path, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id)));
    if (response.status !== 200) dead.push(path);
    if (!type.startsWith("text/html")) continue;
    for (const [, href = ""] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
      if (/^(https:|data:)/.test(href)) continue;
      const target = new URL(href, `http://gateway${path}`);
      links.push([`${path} -> ${href}`, `${target.pathname}${target.hash}`]);
      waiting.push(target.pathname);
    }
  }
  const isThere = (target: string) => {
    const [path = "", id] = target.split("#");
    return !id || elsewhere.has(path) || pages.get(path)?.has(id);
  };
  dead.push(...links.filter(([, target]) => !isThere(target)).map(([link]) => link));
  expect(dead).toEqual([]);
  expect(pages.size).toBeGreaterThan(25);
});

test("a missing page returns a page to a browser, and JSON to a program", async () => {
  for (const path of ["/nothing", "/docs/waygate/nothing"]) {
    const page = await fetch(`${url}${path}`, { headers: { accept: "text/html,*/*" } });
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    const html = await page.text();
    expect(html).toContain("There is no such page");
    expect(html).toMatch(/<a class="skip".*<header>.*<footer>/s);
    const response = await fetch(`${url}${path}`);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      404,
      "application/json; charset=utf-8",
    ]);
  }
  const call = await fetch(`${url}/api/v1/nothing`, { headers: { accept: "text/html" } });
  expect(call.headers.get("content-type")).toBe("application/json; charset=utf-8");
});

test("the first page shows the version, and the icon is of this product", async () => {
  expect(await (await fetch(`${url}/`)).text()).toContain(`version ${packageVersion()}`);
  const icon = await fetch(`${url}/favicon.ico`);
  expect(icon.headers.get("content-type")).toBe("image/svg+xml");
  expect(await icon.text()).toContain("<svg");
});
