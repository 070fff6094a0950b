import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { followRedirects } from "./follow-redirects.ts";
import { createSafeFetch, type SafeFetchOptions } from "./safe-fetch.ts";

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
