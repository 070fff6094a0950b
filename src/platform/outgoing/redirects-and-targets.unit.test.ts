import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, test } from "vitest";
import { createAddressPolicy } from "./address-policy.ts";
import { BLOCKED_MESSAGE } from "./classify-fetch-failure.ts";
import { followRedirects } from "./follow-redirects.ts";
import { maskUrl, originOfUrl } from "./mask-url.ts";
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

  test.each(["ftp://hooks.test/", "file:///etc/passwd", "ws://hooks.test/", "javascript:alert(1)"])(
    "has another scheme than HTTP: %s",
    (text) => {
      expect(parse(text)).toEqual({
        failure: "invalid_url",
        error: "The URL must begin with http:// or https://.",
      });
    },
  );

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
  const server = http.createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Fetches a file and returns the outcome with what was read. */
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

  it("is abandoned after three redirects, and the next address is not visited", async () => {
    const seen: http.IncomingMessage[] = [];
    const host = await serve(chain(seen));
    expect(await fetchFile(`http://${host}/4`)).toMatchObject({ failure: "too_many_redirects", read: "" });
    expect(seen.map(({ url }) => url)).toEqual(["/4", "/3", "/2", "/1"]);
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

  it("ends with a response without a file where the redirect has no target", async () => {
    const host = await serve((_request, response) => response.writeHead(302).end());
    expect(await fetchFile(`http://${host}/`)).toMatchObject({ outcome: "response", status: 302, bytes: 0 });
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

  /** Sends a request whose hops end like this. */
  function follow(hops: (typeof REFUSED | ReturnType<typeof redirect>)[], totalMs = 30_000) {
    const left = [...hops];
    return followRedirects({ url: "http://a.test/", totalMs }, async () => left.shift() ?? REFUSED);
  }

  it("reports a failure unchanged, and a failure behind a redirect as such", async () => {
    expect(await follow([REFUSED])).toMatchObject({
      error: "The connection was refused.",
      url: "http://a.test/",
    });
    expect(await follow([redirect("/b")])).toMatchObject({
      error: "After a redirect: The connection was refused.",
      url: "http://a.test/b",
    });
  });

  it("returns a response behind a redirect unchanged", async () => {
    const last = { ...redirect("/c"), status: 304 };
    const outcome = await follow([redirect("/b"), last]);
    expect(outcome).toEqual({ ...last, url: "http://a.test/b", durationMs: expect.any(Number) });
  });

  it("fails after three redirects, with the reason", async () => {
    expect(await follow(["/b", "/c", "/d", "/e"].map(redirect))).toEqual({
      outcome: "failed",
      failure: "too_many_redirects",
      error: "The address redirects more than 3 times.",
      durationMs: expect.any(Number),
    });
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
