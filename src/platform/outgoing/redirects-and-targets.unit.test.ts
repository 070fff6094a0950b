import type http from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, test } from "vitest";
import { startLocalServer } from "../../../test/servers/local-server.ts";
import { packageVersion } from "../package-version.ts";
import { maskUrl, originOfUrl } from "../urls/mask-url.ts";
import { createAddressPolicy } from "./address-policy.ts";
import { BLOCKED_MESSAGE } from "./classify-fetch-failure.ts";
import { followRedirects } from "./follow-redirects.ts";
import { type OutgoingTarget, parseOutgoingTarget, type TargetRules } from "./outgoing-target.ts";
import { createSafeFetch, type SafeFetchOptions } from "./safe-fetch.ts";

const RULES: TargetRules = {
  policy: createAddressPolicy({ allowedHosts: ["external"] }),
  httpsOnly: false,
  isProxied: false,
};

const parse = (text: string, rules: Partial<TargetRules> = {}) =>
  parseOutgoingTarget(text, { ...RULES, ...rules });

function targetOf(text: string, rules: Partial<TargetRules> = {}): OutgoingTarget {
  const target = parse(text, rules);
  if ("failure" in target) throw new Error(target.error);
  return target;
}

describe("the URL of an outgoing request", () => {
  test.each([
    ["http://hooks.test/a?b=c", "hooks.test", 80, false],
    ["https://hooks.test/", "hooks.test", 443, false],
    ["https://hooks.test:8443/", "hooks.test", 8443, false],
    ["http://HOOKS.test:443/", "hooks.test", 443, false],
    ["http://8.8.8.8/", "8.8.8.8", 80, true],
    ["https://[2606:4700::1111]:8443/", "[2606:4700::1111]", 8443, true],
  ])("names host and port, and whether the host is an address: %s", (text, host, port, isLiteral) => {
    expect(targetOf(text)).toMatchObject({ host, port, isLiteral, authorization: undefined });
    expect(targetOf(text).url.href).toBe(new URL(text).href);
  });

  test.each([
    ["https://bia:secret@hooks.test/", "bia:secret"],
    ["https://bia@hooks.test/", "bia:"],
    ["https://:secret@hooks.test/", ":secret"],
    ["https://b%40x:a%3Ab@hooks.test/", "b@x:a:b"],
    ["https://50%:%zz@hooks.test/", "50%:%zz"],
  ])("carries user name and password as basic authorization: %s", (text, pair) => {
    expect(targetOf(text).authorization).toBe(`Basic ${Buffer.from(pair).toString("base64")}`);
  });

  test("may have at most 2048 characters", () => {
    const longest = `https://hooks.test/${"a".repeat(2_048 - "https://hooks.test/".length)}`;
    expect(targetOf(longest).host).toBe("hooks.test");
    expect(parse(`${longest}a`)).toEqual({
      failure: "invalid_url",
      error: "The URL is longer than 2048 characters.",
    });
  });

  test.each([
    "",
    "hooks.test",
    "https://",
    "https://hooks.test/\n",
    "https://hooks\t.test/",
    "https://hooks.test/\ud800",
  ])("is not valid: %j", (text) => {
    expect(parse(text)).toEqual({ failure: "invalid_url", error: "This is not a valid URL." });
  });

  test.each([
    "ftp://hooks.test/",
    "file:///etc/passwd",
    "ws://hooks.test/",
    "javascript:alert(1)",
    "data:,x",
    "unix:/x",
  ])("has another scheme than HTTP: %s", (text) => {
    expect(parse(text)).toEqual({
      failure: "invalid_url",
      error: "The URL must begin with http:// or https://.",
    });
  });

  test.each(["http://hooks.test/", "ftp://hooks.test/"])(
    "is rejected where only HTTPS is allowed: %s",
    (text) => {
      expect(parse(text, { httpsOnly: true })).toEqual({
        failure: "invalid_url",
        error: "The URL must begin with https://.",
      });
      expect(targetOf("https://hooks.test/", { httpsOnly: true }).port).toBe(443);
    },
  );
});

describe("the target of an outgoing request", () => {
  const BLOCKED = { failure: "blocked", error: BLOCKED_MESSAGE };

  test.each([
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://10.0.0.1/",
  ])("is blocked at once if its address is not allowed: %s", (text) => {
    expect(parse(text)).toEqual(BLOCKED);
    expect(parse(text, { isProxied: true })).toEqual(BLOCKED);
  });

  test("is checked after the DNS lookup if it is a name", () => {
    expect(targetOf("http://localhost/").isLiteral).toBe(false);
  });

  test("is checked by its name if a proxy resolves it", () => {
    expect(parse("http://localhost/", { isProxied: true })).toEqual(BLOCKED);
    expect(targetOf("http://hooks.test/", { isProxied: true }).host).toBe("hooks.test");
  });

  test("may be an allowed address behind a proxy", () => {
    expect(targetOf("http://8.8.8.8/", { isProxied: true }).isLiteral).toBe(true);
  });
});

it.each([
  ["https://example.com/hook", "https://example.com/hook"],
  ["https://user:pass@example.com:8443/a", "https://***@example.com:8443/a"],
  ["https://user@example.com/", "https://***@example.com/"],
  ["https://example.com/a?token=x&b=&c", "https://example.com/a?token=***&b=***&***"],
  ["https://example.com/a?sesame", "https://example.com/a?***"],
  ["https://example.com/a?x=1#fragment", "https://example.com/a?x=***"],
  ["https://example.com/a?x=a=b", "https://example.com/a?x=***"],
  ["https://example.com/api/v1/message-events.php", "https://example.com/api/v1/message-events.php"],
  ["https://hooks.example/services/T0AB12CD3/B0FF/xYz", "https://hooks.example/services/***/***/***"],
  ["https://n8n.example/webhook/0b61b2f2-6d0e-4c56/chat", "https://n8n.example/webhook/***/chat"],
  ["https://api.example/bot123456:AAE-x/send/", "https://api.example/***/send/"],
  ["https://example.com/abcdefghijklmnopqrstuvwxyz", "https://example.com/***"],
  ["https://***@example.com/***/a?token=***&***", "https://***@example.com/***/a?token=***&***"],
  ["https://:pass@example.com/", "https://***@example.com/"],
  ["https://example.com/v12/v123/1v2/V1", "https://example.com/v12/***/***/***"],
  ["https://example.com/abcdefghijklmno/abcdefghijklmnop", "https://example.com/abcdefghijklmno/***"],
  ["https://example.com/a-b_c.d/a-b-c-d-e/a--b/a1/-a", "https://example.com/a-b_c.d/***/***/***/***"],
  ["https://example.com/a-abcdefghijklmno/a-abcdefghijklmnop", "https://example.com/a-abcdefghijklmno/***"],
  ["https://example.com?", "https://example.com/"],
  ["https://example.com/?=x", "https://example.com/?=***"],
  ["nonsense user:pass@", "[not a URL]"],
])("a URL is masked: %s as %s", (url, masked) => {
  expect(maskUrl(url)).toBe(masked);
});

it.each([
  ["https://user:pass@example.com:8443/bot123456:AAE-x?a=b", "https://example.com:8443"],
  ["nonsense", "[not a URL]"],
])("the origin of a URL has no secret: of %s it is %s", (url, origin) => {
  expect(originOfUrl(url)).toBe(origin);
});

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(handler: http.RequestListener): Promise<string> {
  const { port, shut } = await startLocalServer(handler);
  closers.push(shut);
  return `127.0.0.1:${port}`;
}

/** Fetches a file. Returns the outcome with the content. */
async function fetchFile(
  url: string,
  request: { headers?: Record<string, string>; totalMs?: number; maxBytes?: number } = {},
  options: Partial<SafeFetchOptions> = {},
) {
  const outgoing = createSafeFetch({ allowedHosts: ["loopback"], ...options });
  closers.unshift(() => outgoing.close());
  let read = "";
  const onChunk = (piece: Buffer) => {
    read += piece.toString();
  };
  const outcome = await outgoing.download({ url, totalMs: 30_000, maxBytes: 100, onChunk, ...request });
  return { ...outcome, read };
}

function chain(seen: http.IncomingMessage[] = [], status = 302): http.RequestListener {
  return (request, response) => {
    seen.push(request);
    const left = Number(request.url?.slice(1));
    if (left === 0) response.setHeader("x-last", "yes").end("the file");
    else
      response
        .writeHead(status, { location: `/${left - 1}`, "set-cookie": "a=1" })
        .end("a long page".repeat(99));
  };
}

describe("a download whose address redirects", () => {
  it.each([301, 302, 303, 307, 308])("gets the file from the redirect target (%d)", async (status) => {
    const host = await serve(chain([], status));
    const url = `http://${host}/3`;
    expect(await fetchFile(url)).toMatchObject({
      outcome: "response",
      status: 200,
      bytes: 8,
      read: "the file",
      url: `http://${host}/0`,
      headers: { "x-last": "yes" },
    });
  });

  it("is abandoned after five redirects, and the next address is not visited", async () => {
    const seen: http.IncomingMessage[] = [];
    const host = await serve(chain(seen));
    expect(await fetchFile(`http://${host}/5`)).toMatchObject({ status: 200, read: "the file" });
    seen.length = 0;
    expect(await fetchFile(`http://${host}/6`)).toMatchObject({
      failure: "too_many_redirects",
      error: "The address redirects more than 5 times.",
      read: "",
    });
    expect(seen.map(({ url }) => url)).toEqual(["/6", "/5", "/4", "/3", "/2", "/1"]);
  });

  it("has one deadline for all hops", async () => {
    const host = await serve((request, response) => {
      const hop = Number(request.url?.slice(1));
      setTimeout(() => response.writeHead(302, { location: `/${hop + 1}` }).end(), 200);
    });
    expect(await fetchFile(`http://${host}/1`, { totalMs: 500 })).toMatchObject({ failure: "timeout_total" });
  });

  it("applies its size limit at the last hop, and the pages of redirects do not count", async () => {
    const host = await serve(chain());
    expect(await fetchFile(`http://${host}/2`, { maxBytes: 8 })).toMatchObject({ bytes: 8 });
    expect(await fetchFile(`http://${host}/2`, { maxBytes: 7 })).toMatchObject({ failure: "too_large" });
  });

  it("sends headers, user name and password to the same origin and to no other", async () => {
    const seen: http.IncomingMessage[] = [];
    const last = await serve(chain(seen));
    const first = await serve((request, response) => {
      seen.push(request);
      const to = request.url === "/1" ? "/2" : `http://stranger:secret@${last}/0`;
      response.writeHead(302, { location: to }).end();
    });
    const headers = { authorization: "Bearer ours", "x-key": "ours" };
    await fetchFile(`http://${first}/1`, { headers });
    await fetchFile(`http://ana:hunter2@${first}/1`);
    const basic = `Basic ${Buffer.from("ana:hunter2").toString("base64")}`;
    expect(seen.map((request) => [request.headers.authorization, request.headers["x-key"]])).toEqual([
      ["Bearer ours", "ours"],
      ["Bearer ours", "ours"],
      [undefined, undefined],
      [basic, undefined],
      [basic, undefined],
      [undefined, undefined],
    ]);
    expect(seen.every((request) => request.headers.cookie === undefined)).toBe(true);
  });

  it.each(["file:///etc/passwd", "ftp://files.test/a", "http://169.254.169.254/latest"])(
    "does not follow a redirect to %s",
    async (location) => {
      const host = await serve((_request, response) => response.writeHead(302, { location }).end());
      expect(await fetchFile(`http://${host}/`)).toMatchObject({
        outcome: "failed",
        failure: expect.stringMatching(/^(blocked|invalid_url)$/),
        error: expect.stringMatching(/^After a redirect: /),
      });
    },
  );

  it("finds a target that its host wrote unencoded", async () => {
    const host = await serve((request, response) => {
      if (request.url === "/")
        response.writeHead(302, { location: Buffer.from("/Número").toString("latin1") }).end();
      else response.end(decodeURIComponent(request.url ?? ""));
    });
    expect(await fetchFile(`http://${host}/`)).toMatchObject({ read: "/Número" });
  });

  it("ends with a response without a file where the redirect has no target", async () => {
    const host = await serve((_request, response) => response.writeHead(302).end());
    expect(await fetchFile(`http://${host}/`)).toMatchObject({ outcome: "response", status: 302, bytes: 0 });
  });
});

describe("a download", () => {
  it("says who asks, accepts any type and no compression, unless the caller wants other headers", async () => {
    const seen: http.IncomingHttpHeaders[] = [];
    const host = await serve((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    await fetchFile(`http://${host}/`);
    await fetchFile(`http://${host}/`, { headers: { Accept: "text/html", "User-Agent": "Other" } });
    expect(seen).toMatchObject([
      { "user-agent": `Waygate/${packageVersion()}`, accept: "*/*", "accept-encoding": "identity" },
      { "user-agent": "Other", accept: "text/html", "accept-encoding": "identity" },
    ]);
  });

  const FILE = Buffer.from("the file of a host".repeat(3));
  /** Downloads a body with this Content-Encoding in pieces of seven bytes. */
  async function decoded(
    body: Buffer,
    coding: string,
    path = "/a.bin",
    type = "application/octet-stream",
    maxBytes = 100,
  ) {
    const host = await serve(async (_request, response) => {
      response.writeHead(200, { "content-encoding": coding, "content-type": type });
      for (let at = 0; at < body.length; at += 7) response.write(body.subarray(at, at + 7));
      response.end();
    });
    return fetchFile(`http://${host}${path}`, { maxBytes });
  }

  it.each<[string, Buffer, string]>([
    ["gzip", gzipSync(FILE), "gzip"],
    ["gzip under its old name", gzipSync(FILE), "X-GZIP"],
    [
      "two pieces of gzip",
      Buffer.concat([gzipSync(FILE.subarray(0, 20)), gzipSync(FILE.subarray(20))]),
      "gzip",
    ],
    ["deflate", deflateSync(FILE), "deflate"],
    ["br", brotliCompressSync(FILE), "br"],
    ["two codings", brotliCompressSync(gzipSync(FILE)), "gzip, br"],
    ["identity", FILE, "identity"],
    ["an empty coding", FILE, ""],
    ["chunks of S3", FILE, "aws-chunked"],
    ["gzip beside chunks of S3", gzipSync(FILE), "aws-chunked, gzip"],
    ["a charset in the wrong header", FILE, "UTF-8"],
  ])("is stored without the coding of its host: %s", async (_, body, coding) => {
    expect(await decoded(body, coding)).toMatchObject({ outcome: "response", read: FILE.toString() });
  });

  it.each<[string, Buffer, string]>([
    ["plain bytes that call themselves gzip", FILE, "gzip"],
    ["plain bytes that call themselves br", FILE, "br"],
    ["gzip that ends too early", gzipSync(FILE).subarray(0, 30), "gzip"],
    ["br that ends too early", brotliCompressSync(FILE).subarray(0, 12), "br"],
    ["gzip with a wrong checksum", Buffer.concat([gzipSync(FILE).subarray(0, -8), Buffer.alloc(8)]), "gzip"],
    ["a coding that Node cannot read", FILE, "zstd"],
    ["a coding under one that Node cannot read", gzipSync(FILE), "zstd, gzip"],
    ["four codings", gzipSync(FILE), "gzip, gzip, gzip, gzip"],
  ])("fails, with the reason, where its host sends %s", async (_, body, coding) => {
    expect(await decoded(body, coding)).toMatchObject({
      outcome: "failed",
      failure: "protocol",
      error: `The response is compressed (Content-Encoding: ${coding}) and cannot be unpacked.`,
    });
  });

  it("stops when the unpacked file is larger than allowed", async () => {
    for (const [bomb, coding] of [
      [gzipSync(Buffer.alloc(50_000_000)), "gzip"],
      [brotliCompressSync(Buffer.alloc(5_000_000)), "br"],
      [gzipSync(gzipSync(Buffer.alloc(50_000_000))), "gzip, gzip"],
    ] as const) {
      const outcome = await decoded(bomb, coding, "/a", undefined, 1_000_000);
      expect(outcome).toMatchObject({ outcome: "failed", failure: "too_large" });
      expect(outcome.read.length).toBeLessThanOrEqual(1_000_000);
    }
  });

  it.each([
    ["/backup.tar.gz", "application/octet-stream"],
    ["/backup.tgz", "application/octet-stream"],
    ["/backup", "application/gzip"],
    ["/backup", "application/x-gzip"],
  ])("keeps a file that is compressed itself: %s, %s", async (path, type) => {
    const packed = gzipSync(FILE);
    expect(await decoded(packed, "gzip", path, type)).toMatchObject({ bytes: packed.length });
  });
});

describe("a request that follows redirects", () => {
  const REFUSED = { outcome: "failed" as const, error: "The connection was refused.", durationMs: 1 };
  const redirect = (location: string) => ({
    outcome: "response" as const,
    status: 302,
    headers: { location },
    durationMs: 1,
  });

  /** Sends a request with these results of its hops. */
  function follow(hops: (typeof REFUSED | ReturnType<typeof redirect>)[], totalMs = 30_000) {
    const left = [...hops];
    return followRedirects({ url: "http://a.test/", totalMs }, async () => left.shift() ?? REFUSED);
  }

  it("returns a response behind a redirect unchanged", async () => {
    const last = { ...redirect("/c"), status: 304 };
    const outcome = await follow([redirect("/b"), last]);
    expect(outcome).toEqual({ ...last, url: "http://a.test/b", durationMs: expect.any(Number) });
  });

  it("fails if no time is left for the next hop, with the reason", async () => {
    expect(await follow([redirect("/b")], 0)).toEqual({
      outcome: "failed",
      failure: "timeout_total",
      error: "No response within the time limit.",
      durationMs: expect.any(Number),
    });
  });
});
