import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { disguises, INTERNAL, INTERNAL_IPV6, spellings } from "../../../test/servers/internal-addresses.ts";
import { startLocalServer } from "../../../test/servers/local-server.ts";
import { BLOCKED_MESSAGE } from "./classify-fetch-failure.ts";
import { createSafeFetch, type FetchOutcome, type SafeFetch, type SafeFetchOptions } from "./safe-fetch.ts";

const closers: (() => unknown)[] = [];
/** Connections to the internal listeners so far. */
let hits = 0;
let port = 0;

beforeEach(async () => {
  hits = 0;
  port = 0;
  // One port on every loopback address, which records a request to any of them.
  for (const host of ["127.0.0.1", "::1"]) {
    const server = http.createServer((_request, response) => response.end("internal"));
    server.on("connection", () => {
      hits += 1;
    });
    server.listen(port, host);
    await once(server, "listening").then(
      () => {
        port = (server.address() as AddressInfo).port;
      },
      () => {},
    );
    closers.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
  }
});

afterEach(async () => {
  for (const close of closers.splice(0)) {
    await close();
  }
});

function open(options: Partial<SafeFetchOptions> = {}): SafeFetch {
  const outgoing = createSafeFetch({ allowedHosts: ["external"], ...options });
  closers.unshift(() => outgoing.close());
  return outgoing;
}

function post(outgoing: SafeFetch, url: string): Promise<FetchOutcome> {
  return outgoing.fetch({ url, method: "POST", body: "{}", totalMs: 30_000, maxBytes: 1000 });
}

function resolveTo(...addresses: string[]) {
  return async () => addresses.map((address) => ({ address, family: net.isIP(address) }));
}

function corpus(): string[] {
  return [...INTERNAL.flatMap(spellings), ...INTERNAL_IPV6].flatMap((host) => disguises(host, port));
}

const BLOCKED = { outcome: "failed", failure: "blocked", error: BLOCKED_MESSAGE };

/** A resolver that maps every unusual form to the loopback address. */
const everythingIsLoopback = resolveTo("127.0.0.1");

describe("the log of blocked requests", () => {
  function openLogged(options: Partial<SafeFetchOptions> = {}) {
    const lines: object[] = [];
    const log = { warn: (fields: object) => void lines.push(fields) };
    return { outgoing: open({ ...options, log: log as never }), lines };
  }

  const call = { method: "GET", totalMs: 30_000, maxBytes: 10 };

  it("contains the host, the reason and the tenant, and nothing else of the URL", async () => {
    const { outgoing, lines } = openLogged({ lookup: resolveTo("10.0.0.1") });
    const tenant = { instance_id: 7 };
    await outgoing.fetch({ ...call, url: "http://u:hunter2@169.254.169.254/latest?key=hunter2", tenant });
    await outgoing.fetch({ ...call, url: "https://u:hunter2@inside.test:8443/hunter2", tenant });
    await outgoing.download({ ...call, url: "http://127.0.0.1/hunter2", onChunk() {} });
    expect(lines).toEqual([
      { host: "169.254.169.254", reason: "url", instance_id: 7 },
      { host: "inside.test:8443", reason: "resolved", instance_id: 7 },
      { host: "127.0.0.1", reason: "url" },
    ]);
  });

  it("contains no line for other failures", async () => {
    const { outgoing, lines } = openLogged();
    expect(await post(outgoing, "ftp://x.test/")).toMatchObject({ failure: "invalid_url" });
    const reachable = openLogged({ allowedHosts: ["loopback"] });
    expect(await post(reachable.outgoing, `http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
    expect([...lines, ...reachable.lines]).toEqual([]);
  });

  it("contains ten lines a minute of one tenant, and another tenant has its own ten", async () => {
    const { outgoing, lines } = openLogged();
    const url = "http://127.0.0.1/";
    for (let times = 0; times < 50; times++)
      await outgoing.fetch({ ...call, url, tenant: { account_id: 1 } });
    expect(lines).toHaveLength(10);
    await outgoing.fetch({ ...call, url, tenant: { account_id: 2 } });
    expect(lines.at(-1)).toEqual({ host: "127.0.0.1", reason: "url", account_id: 2, count: 40 });
  });
});

describe("the set of forged addresses", () => {
  it("has thousands of forms, none of which reaches an internal listener", async () => {
    const urls = corpus();
    expect(urls.length).toBeGreaterThan(3000);
    const outgoing = open({ lookup: everythingIsLoopback });
    const passed: string[] = [];
    for (const url of urls) {
      const outcome = await post(outgoing, url);
      if (outcome.outcome !== "failed" || !["blocked", "invalid_url"].includes(outcome.failure)) {
        passed.push(url);
      }
    }
    expect(passed).toEqual([]);
    expect(hits).toBe(0);
  });

  it("is refused as early as it is saved, with an explanation and without an address", async () => {
    const outgoing = open({ lookup: everythingIsLoopback });
    const reasons = new Set<string | undefined>();
    for (const url of corpus()) {
      reasons.add(await outgoing.findBlockReason(url));
    }
    expect([...reasons].sort()).toEqual([BLOCKED_MESSAGE, "This is not a valid URL."].sort());
    expect(hits).toBe(0);
  });

  it("is reached by no redirect of a download, as an address or as a name that becomes private", async () => {
    let location = "";
    const hop = await startLocalServer((_request, response) => response.writeHead(302, { location }).end());
    closers.push(hop.shut);
    const outgoing = open({ allowedHosts: ["external", "hop.test"], lookup: everythingIsLoopback });
    const url = `http://hop.test:${hop.port}/`;
    const passed: string[] = [];
    // Only characters that a header permits. A sample, because each hop is checked like a request, which is tested
    // above.
    const targets = corpus().filter((one, nth) => nth % 37 === 0 && /^[\x21-\x7e]*$/.test(one));
    for (const target of targets) {
      location = target;
      const outcome = await outgoing.download({ url, totalMs: 30_000, maxBytes: 1000, onChunk() {} });
      const isRefused = outcome.outcome === "failed" && ["blocked", "invalid_url"].includes(outcome.failure);
      // Some forms parse as a path on the redirecting server.
      const isHere = !URL.canParse(target, url) || new URL(target, url).origin === new URL(url).origin;
      if (!isRefused && !isHere) passed.push(target);
    }
    expect(passed).toEqual([]);
    expect(hits).toBe(0);
  });

  it("would reach the listener if the policy allowed it: the forms are real", async () => {
    const outgoing = open({ allowedHosts: ["loopback"] });
    const [loopback] = INTERNAL;
    const outcomes = await Promise.all(
      spellings(loopback).map((host) => post(outgoing, `http://${host}:${port}/`)),
    );
    const reached = outcomes.filter((outcome) => outcome.outcome === "response" && outcome.status === 200);
    expect(reached.length).toBeGreaterThanOrEqual(15);
    expect(hits).toBeGreaterThan(0);
  });

  it("includes the ports of other services", async () => {
    const outgoing = open({ allowedHosts: ["external", "loopback"], lookup: resolveTo("127.0.0.1") });
    for (const host of ["127.0.0.1", "example.com", "[::1]"]) {
      const url = `http://${host}:5432/`;
      expect(await post(outgoing, url)).toMatchObject(BLOCKED);
      expect(await outgoing.findBlockReason(url)).toBe(BLOCKED_MESSAGE);
    }
  });

  it("includes control characters that a parser would drop", async () => {
    const outgoing = open({ allowedHosts: ["loopback"] });
    for (const text of ["\t", "\n", "\r", "\0", "\u007f", "\u0085", "\uD800"]) {
      const url = `http://127.0.0${text}.1:${port}/`;
      expect(await post(outgoing, url)).toMatchObject({ outcome: "failed", failure: "invalid_url" });
    }
    expect(hits).toBe(0);
  });

  it("includes very long and punycode names, which fail without a request", async () => {
    const outgoing = open({ lookup: everythingIsLoopback });
    const long = `${`${"a".repeat(62)}.`.repeat(4).slice(0, 253)}`;
    for (const host of [
      long,
      "xn--bcher-kva.test",
      "xn--",
      "a".repeat(300),
      "localhost",
      "LOCALHOST.",
      "ip6-localhost",
    ]) {
      expect(await post(outgoing, `http://${host}:${port}/`)).toMatchObject({ outcome: "failed" });
    }
    expect(hits).toBe(0);
  });
});

describe("host names in URLs", () => {
  it("are refused when any of their addresses is refused, whatever its position", async () => {
    const mixed = [
      ["8.8.8.8", "127.0.0.1"],
      ["127.0.0.1", "8.8.8.8"],
      ["8.8.8.8", "::1"],
      ["2606:4700::1111", "8.8.8.8", "fd00::1"],
      ["8.8.8.8", "::ffff:127.0.0.1"],
      ["8.8.8.8", "64:ff9b::7f00:1"],
    ];
    for (const addresses of mixed) {
      const outgoing = open({ lookup: resolveTo(...addresses) });
      const url = `http://mixed.test:${port}/`;
      expect(await outgoing.findBlockReason(url)).toBe(BLOCKED_MESSAGE);
      expect(await post(outgoing, url)).toMatchObject(BLOCKED);
    }
    expect(hits).toBe(0);
  });

  it("that become private after they were saved are refused when they are dialled", async () => {
    let asked = 0;
    const lookup = async () => {
      asked += 1;
      return [{ address: asked === 1 ? "8.8.8.8" : "127.0.0.1", family: 4 }];
    };
    const outgoing = open({ lookup });
    const url = `http://rebinding.test:${port}/`;
    expect(await outgoing.findBlockReason(url)).toBeUndefined();
    expect(await post(outgoing, url)).toMatchObject(BLOCKED);
    expect(asked).toBe(2);
    expect(hits).toBe(0);
  });

  it("are resolved once per connection, and exactly that address is dialled", async () => {
    // 127.0.0.2 stands for the public address, 127.0.0.1 for the internal one of the second query.
    const visits: string[] = [];
    const open127 = http.createServer((request, response) => {
      visits.push(request.headers.host ?? "");
      response.setHeader("connection", "close");
      response.end("public");
    });
    open127.listen(port, "127.0.0.2");
    await once(open127, "listening");
    closers.push(() => open127.close());
    let asked = 0;
    const lookup = async () => {
      asked += 1;
      return [{ address: asked === 1 ? "127.0.0.2" : "127.0.0.1", family: 4 }];
    };
    const outgoing = open({ allowedHosts: ["127.0.0.2"], lookup });
    const url = `http://rebinding.test:${port}/`;
    expect(await post(outgoing, url)).toMatchObject({ outcome: "response", status: 200 });
    expect(asked).toBe(1);
    expect(await post(outgoing, url)).toMatchObject({ outcome: "failed", failure: "blocked" });
    expect(asked).toBe(2);
    expect(visits).toEqual([`rebinding.test:${port}`]);
    expect(hits).toBe(0);
  });

  it("in the list may resolve to private addresses, and no other names may", async () => {
    const outgoing = open({ allowedHosts: ["external", "n8n"], lookup: resolveTo("127.0.0.1") });
    expect(await post(outgoing, `http://n8n:${port}/`)).toMatchObject({ outcome: "response", status: 200 });
    const before = hits;
    expect(await post(outgoing, `http://other:${port}/`)).toMatchObject({ failure: "blocked" });
    expect(await post(outgoing, `http://127.0.0.1:${port}/`)).toMatchObject({ failure: "blocked" });
    expect(hits).toBe(before);
  });

  it("that do not resolve fail at the request, and may be saved for later", async () => {
    const lookup = async () => {
      throw Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    };
    const outgoing = open({ lookup });
    expect(await outgoing.findBlockReason("http://later.test/")).toBeUndefined();
    expect(await post(outgoing, "http://later.test/")).toMatchObject({
      outcome: "failed",
      failure: "dns",
      error: "The host name could not be resolved.",
    });
  });

  it("without any address are refused", async () => {
    const outgoing = open({ lookup: resolveTo() });
    expect(await post(outgoing, "http://empty.test/")).toMatchObject(BLOCKED);
  });

  it("with a hanging resolver fail at the limit of connecting or at the deadline, and block no other name", async () => {
    const lookup = (name: string) =>
      name === "slow.test" ? new Promise<never>(() => {}) : resolveTo("127.0.0.1")();
    const outgoing = open({ allowedHosts: ["loopback"], lookup, connectMs: 500 });
    const slow = outgoing.fetch({ url: "http://slow.test/", method: "GET", totalMs: 60_000, maxBytes: 10 });
    const hasty = outgoing.fetch({ url: "http://slow.test/", method: "GET", totalMs: 300, maxBytes: 10 });
    expect(await post(outgoing, `http://quick.test:${port}/`)).toMatchObject({ outcome: "response" });
    expect(await hasty).toMatchObject({ outcome: "failed", failure: "timeout_total" });
    expect(await slow).toMatchObject({ outcome: "failed", failure: "timeout_connect" });
  });
});

describe("the owner of a URL", () => {
  it.each(["127.0.0.1", "inner.test"])(
    "decides which list applies to %s, also on a connection that another owner has opened",
    async (host) => {
      const outgoing = open({
        operatorAllowedHosts: ["external", "loopback"],
        lookup: everythingIsLoopback,
      });
      const url = `http://${host}:${port}/`;
      const call = { url, method: "GET", totalMs: 20_000, maxBytes: 10 };
      expect(await outgoing.fetch({ ...call, policyKey: "operator" })).toMatchObject({ outcome: "response" });
      expect(await outgoing.fetch({ ...call, policyKey: "tenant" })).toMatchObject({ failure: "blocked" });
      expect(await outgoing.fetch(call)).toMatchObject({ failure: "blocked" });
      expect(await outgoing.findBlockReason(url, "operator")).toBeUndefined();
      expect(await outgoing.findBlockReason(url)).toBe(BLOCKED_MESSAGE);
      expect(hits).toBe(1);
    },
  );
});

describe("an address that the network supplies", () => {
  const everything = ["external", "private", "loopback"];

  it.each(["127.0.0.1", "10.0.0.1", "169.254.169.254", "fd00::1"])(
    "is never at %s, whatever customers and the operator allow",
    async (address) => {
      const lookup = resolveTo(address);
      const outgoing = open({ allowedHosts: everything, allowsLoopback: async () => true, lookup });
      const found = promisify(outgoing.lookup("https://mmg.whatsapp.net/", "network"));
      await expect(found("mmg.whatsapp.net", {})).rejects.toThrow("not allowed");
    },
  );

  it("may be a public address", async () => {
    const outgoing = open({ lookup: resolveTo("157.240.1.60") });
    const found = promisify(outgoing.lookup("https://mmg.whatsapp.net/", "network"));
    expect(await found("mmg.whatsapp.net", {})).toBe("157.240.1.60");
  });
});

describe("the gateway's own listeners", () => {
  it("are never reached, even where loopback is allowed", async () => {
    const outgoing = open({
      allowedHosts: ["loopback", "private", "external"],
      ownListeners: () => [{ address: "127.0.0.1", port }],
      lookup: everythingIsLoopback,
    });
    for (const host of ["127.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "me.test"]) {
      expect(await post(outgoing, `http://${host}:${port}/`)).toMatchObject({ failure: "blocked" });
      expect(await outgoing.findBlockReason(`http://${host}:${port}/`)).toBe(BLOCKED_MESSAGE);
    }
    expect(hits).toBe(0);
  });
});

describe("the egress proxy", () => {
  async function startProxy(behave?: (socket: net.Socket) => void) {
    const asked: { target: string | undefined; authorization: string | undefined }[] = [];
    const proxy = http.createServer();
    proxy.on("connect", (request, socket: net.Socket) => {
      asked.push({ target: request.url, authorization: request.headers["proxy-authorization"] });
      socket.on("error", () => {});
      if (behave !== undefined) {
        behave(socket);
        return;
      }
      const inner = net.connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        inner.pipe(socket).pipe(inner);
      });
      inner.on("error", () => socket.destroy());
      closers.unshift(
        () => inner.destroy(),
        () => socket.destroy(),
      );
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    closers.push(
      () => proxy.closeAllConnections(),
      () => proxy.close(),
    );
    return { asked, url: `http://user:pass@127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  }

  it("carries the request, resolves the name itself and keeps the tunnel", async () => {
    const { asked, url } = await startProxy();
    const lookup = async () => {
      throw new Error("nobody must ask here");
    };
    const outgoing = open({ egressProxy: url, lookup });
    for (let i = 0; i < 3; i++) {
      const outcome = await post(outgoing, "http://hooks.test/x");
      expect(outcome).toMatchObject({ outcome: "response", status: 200 });
      expect(outcome.outcome === "response" && outcome.body.toString()).toBe("internal");
    }
    expect(await outgoing.findBlockReason("http://hooks.test/x")).toBeUndefined();
    expect(asked).toEqual([
      { target: "hooks.test:80", authorization: `Basic ${Buffer.from("user:pass").toString("base64")}` },
    ]);
  });

  it("receives no request for literals, ports and names that the policy refuses", async () => {
    const { asked, url } = await startProxy();
    const outgoing = open({ egressProxy: url, allowedHosts: ["hooks.test"] });
    const refused = ["http://127.0.0.1/", "http://[::1]/", "http://2130706433/", "http://169.254.169.254/"];
    for (const target of [...refused, "http://hooks.test:5432/", "http://other.test/"]) {
      expect(await post(outgoing, target)).toMatchObject(BLOCKED);
      expect(await outgoing.findBlockReason(target)).toBe(BLOCKED_MESSAGE);
    }
    expect(asked).toEqual([]);
  });

  it("receives no request for a redirect target that the policy refuses", async () => {
    const answers = ["http://127.0.0.1/", "http://other.test/", "http://hooks.test:5432/", "http://[::1]/x"];
    const { asked, url } = await startProxy((socket) => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.on("data", () => {
        const location = answers.shift();
        socket.write(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
      });
    });
    const outgoing = open({ egressProxy: url, allowedHosts: ["hooks.test"] });
    for (let times = answers.length; times > 0; times--) {
      const download = { url: "http://hooks.test/x", totalMs: 30_000, maxBytes: 10, onChunk() {} };
      expect(await outgoing.download(download)).toMatchObject({ outcome: "failed", failure: "blocked" });
    }
    expect(answers).toEqual([]);
    expect(new Set(asked.map(({ target }) => target))).toEqual(new Set(["hooks.test:80"]));
  });

  it.each([
    ["403 Forbidden", "blocked"],
    ["407 Proxy Authentication Required", "blocked"],
    ["502 Bad Gateway", "refused"],
  ])("that responds %s makes the request %s", async (status, failure) => {
    const { url } = await startProxy((socket) =>
      socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`),
    );
    const lines: object[] = [];
    const log = { warn: (fields: object) => void lines.push(fields) } as never;
    const outcome = await post(open({ egressProxy: url, log }), "http://hooks.test/");
    expect(outcome).toMatchObject({ outcome: "failed", failure });
    expect(lines).toEqual(failure === "blocked" ? [{ host: "hooks.test", reason: "proxy" }] : []);
  });

  it("that hangs is abandoned at the deadline", async () => {
    const { url } = await startProxy(() => {});
    const outgoing = open({ egressProxy: url });
    const outcome = await outgoing.fetch({
      url: "http://hooks.test/",
      method: "GET",
      totalMs: 300,
      maxBytes: 10,
    });
    expect(outcome).toMatchObject({ outcome: "failed", failure: "timeout_total" });
  });
});
