import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeScratchDir, type ScratchDir } from "../../../test/run/scratch-dir.ts";
import { ROOT } from "../../../test/source-files.ts";
import { createHttpServer, type HttpServer } from "../../platform/http/server/http-server.ts";
import { createLog } from "../../platform/log/log.ts";
import { NOT_FOUND_PAGE } from "../public-pages/home-page.ts";
import { panelRoute } from "./panel.ts";

const PAGE = '<!doctype html><div id="root"></div>';
const SCRIPT = "console.log('panel');".repeat(50);
const FONT = Buffer.from([0x77, 0x4f, 0x46, 0x32, 0, 1, 2, 3]);

let scratch: ScratchDir;
let server: HttpServer;
let url = "";

interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Sends the path unchanged, which `fetch` would normalise. */
function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Received> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
    sent.on("error", reject).end();
  });
}

function build(folder: string): void {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, "index.html"), PAGE);
  writeFileSync(join(folder, "assets/index-abc.js"), SCRIPT);
  writeFileSync(join(folder, "assets/type-abc.woff2"), FONT);
  writeFileSync(join(folder, "manifest.json"), "{}");
  execFileSync(process.execPath, [join(ROOT, "scripts/compress-panel.mjs"), folder]);
}

function serve(folder: string): Promise<HttpServer> {
  return createHttpServer({
    contract: {},
    handlers: {},
    authorise: async () => ({ kind: "public" }),
    log: createLog("silent"),
    strictOutput: true,
    bodyLimitBytes: 1000,
    notFoundPage: NOT_FOUND_PAGE,
    files: panelRoute(folder),
  });
}

beforeAll(async () => {
  scratch = await makeScratchDir();
  build(join(scratch.path, "panel"));
  writeFileSync(join(scratch.path, "secret.txt"), "secret");
  server = await serve(join(scratch.path, "panel"));
  ({ url } = await server.listen("127.0.0.1", 0));
});
afterAll(async () => {
  await server?.close();
  await scratch?.remove();
});

describe("the files of the panel", () => {
  test.each(["/panel", "/panel/", "/panel/instances", "/panel/instances/7/link?x=1.5"])(
    "the page %s is the first page, which no cache keeps without asking",
    async (path) => {
      const { status, headers, body } = await get(path);
      expect([status, headers["content-type"], String(body)]).toEqual([
        200,
        "text/html; charset=utf-8",
        PAGE,
      ]);
      expect(headers["cache-control"]).toBe("no-cache");
      expect(headers["content-encoding"]).toBeUndefined();
    },
  );

  test("a script is compressed as the browser accepts it, and kept for ever", async () => {
    const path = "/panel/assets/index-abc.js";
    const decoders: [string, string | undefined, (body: Buffer) => Buffer][] = [
      ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
      ["gzip, br;q=0", "gzip", gunzipSync],
      ["*", "gzip", gunzipSync],
      ["identity", undefined, (body) => body],
      ["", undefined, (body) => body],
      [`${",".repeat(10_000)}br;q=0.000`, undefined, (body) => body],
    ];
    const etags = new Set<unknown>();
    for (const [accepted, encoding, decode] of decoders) {
      const { status, headers, body } = await get(path, { "accept-encoding": accepted });
      expect([status, headers["content-encoding"], headers.vary]).toEqual([200, encoding, "accept-encoding"]);
      expect(String(decode(body))).toBe(SCRIPT);
      expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
      expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      etags.add(headers.etag);
    }
    expect(etags.size).toBe(3);
  });

  test("a font is sent as it is, since compression would not make it smaller", async () => {
    const { headers, body } = await get("/panel/assets/type-abc.woff2", { "accept-encoding": "br" });
    expect([headers["content-type"], headers["content-encoding"], body]).toEqual([
      "font/woff2",
      undefined,
      FONT,
    ]);
  });

  test.each([
    "/panel/instances/2/chats/5511999990004@s.whatsapp.net",
    "/panel/instances/2/chats/5511999990004%40s.whatsapp.net",
    "/panel/instances/2/chats/120363041234567890@g.us",
  ])("the address of a chat is no file extension: %s is a page", async (path) => {
    const { status, body } = await get(path);
    expect([status, String(body)]).toEqual([200, PAGE]);
  });

  test("a file that the browser has already is not sent again", async () => {
    const { headers } = await get("/panel/", { "accept-encoding": "gzip" });
    for (const known of [`"other", W/${headers.etag}`, "*"]) {
      const again = await get("/panel/", { "accept-encoding": "gzip", "if-none-match": known });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
    }
    const changed = await get("/panel/", { "accept-encoding": "br", "if-none-match": `${headers.etag}` });
    expect(changed.status).toBe(200);
  });

  test("a HEAD request gets the headers alone", async () => {
    const { status, headers, body } = await get("/panel/assets/index-abc.js", {}, "HEAD");
    expect([status, headers["content-length"], body.length]).toEqual([200, String(SCRIPT.length), 0]);
  });

  test("every response has the headers that keep other sites and inline code away", async () => {
    for (const path of ["/panel/", "/panel/assets/index-abc.js"]) {
      const { headers } = await get(path);
      const policy = headers["content-security-policy"];
      for (const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
      ])
        expect(policy).toContain(rule);
      expect(policy).not.toContain("unsafe");
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "x-frame-options": "DENY",
      });
      expect(headers["permissions-policy"]).toContain("camera=(), ");
      expect(headers["permissions-policy"]).toContain("microphone=(self), ");
    }
  });

  test.each([
    "/panel/assets/index-xyz.js",
    "/panel/assets/",
    "/panel/assets/index-abc.js.gz",
    "/panel/manifest.json",
    "/panel/files.json",
    "/panel/../secret.txt",
    "/panel/..%2fsecret.txt",
    "/panel/%2e%2e/secret.txt",
    "/panel/assets/..%2f..%2f..%2fsecret.txt",
    "/panel/assets/..\\..\\..\\secret.txt",
    "/panel//secret.txt",
    "/panel/assets/index-abc.js%00",
    "/panel/constructor.js",
  ])("a path that the build does not list finds no file: %s", async (path) => {
    const { status, body } = await get(path);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(String(body)).not.toMatch(/^secret$|root/);
  });

  test("no other method is served", async () => {
    for (const method of ["POST", "PUT", "DELETE"]) {
      expect((await get("/panel/", {}, method)).status).toBe(404);
    }
  });
});

test("a gateway without a built panel says how to build it, and serves the panel as soon as it is there", async () => {
  const folder = join(scratch.path, "later");
  const bare = await serve(folder);
  try {
    const before = await bare.inject({ url: "/panel/" });
    expect([before.statusCode, before.headers["content-type"]]).toEqual([503, "text/html; charset=utf-8"]);
    expect(before.body).toContain("npm run build:panel");
    build(folder);
    const after = await bare.inject({ url: "/panel/" });
    expect([after.statusCode, after.body]).toEqual([200, PAGE]);
  } finally {
    await bare.close();
  }
});
