import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { createRequire } from "node:module";
import net, { type AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createGate } from "../../../test/gate.ts";
import { startHttpProxy } from "../../../test/servers/proxy-server.ts";
import { makeAuthority } from "../../../test/whatsapp-server/media-server.ts";
import { createSafeFetch, type SafeFetch, type SafeFetchOptions } from "./safe-fetch.ts";

const closers: (() => unknown)[] = [];

afterAll(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

function open(options: Partial<SafeFetchOptions> = {}): SafeFetch {
  const outgoing = createSafeFetch({ allowedHosts: ["loopback"], ...options });
  closers.unshift(() => outgoing.close());
  return outgoing;
}

interface Server {
  url: string;
  port: number;
  /** Accepted sockets so far. */
  sockets: net.Socket[];
}

async function listen(server: net.Server | http.Server, host = "127.0.0.1", port = 0): Promise<Server> {
  const sockets: net.Socket[] = [];
  server.on("connection", (socket: net.Socket) => {
    socket.on("error", () => {});
    sockets.push(socket);
  });
  server.listen(port, host);
  await once(server, "listening");
  closers.push(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
  });
  const address = server.address() as AddressInfo;
  return { url: `http://${host}:${address.port}/`, port: address.port, sockets };
}

/** An HTTP server with this handler. */
function startServer(handler: http.RequestListener, host?: string, port?: number): Promise<Server> {
  return listen(http.createServer(handler), host, port);
}

/** A server that controls each socket after the first bytes of the request. */
function raw(behave: (socket: net.Socket) => void): Promise<Server> {
  return listen(net.createServer((socket) => socket.once("data", () => behave(socket.resume()))));
}

function drip(socket: net.Socket, text: string, everyMs = 20): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text.charAt(at++ % text.length)), everyMs);
  socket.on("close", () => clearInterval(timer));
}

const POST = { method: "POST", body: "{}", totalMs: 30_000, maxBytes: 1000 };

describe("an ordinary request", () => {
  it("sends method, headers and the exact bytes, and returns status, headers and body", async () => {
    const seen: { method: string | undefined; headers: http.IncomingHttpHeaders; body: Buffer }[] = [];
    const server = await startServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) {
        chunks.push(chunk);
      }
      seen.push({ method: request.method, headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(201, { "x-one": "1", "set-cookie": ["a=1", "b=2"] }).end("olá");
    });
    const body = Buffer.from('{"text":"olá 😀"}');
    const outcome = await open().fetch({
      ...POST,
      url: `${server.url}hook?x=1`,
      headers: { "x-mine": "yes" },
      body,
    });
    expect(outcome).toMatchObject({
      outcome: "response",
      status: 201,
      truncated: false,
      durationMs: expect.any(Number),
    });
    expect(outcome.outcome === "response" && outcome.body.toString()).toBe("olá");
    expect(outcome.outcome === "response" && outcome.headers).toMatchObject({
      "x-one": "1",
      "set-cookie": "a=1, b=2",
    });
    expect(seen[0]?.method).toBe("POST");
    expect(seen[0]?.headers).toMatchObject({ "x-mine": "yes", "content-length": String(body.length) });
    expect(seen[0]?.body.equals(body)).toBe(true);
  });

  it("requests no compression and stores no cookie", async () => {
    const seen: http.IncomingHttpHeaders[] = [];
    const server = await startServer((request, response) => {
      seen.push(request.headers);
      response.setHeader("set-cookie", "session=1");
      response.end();
    });
    const outgoing = open();
    await outgoing.fetch({ ...POST, url: server.url });
    await outgoing.fetch({ ...POST, url: server.url });
    expect(seen).toHaveLength(2);
    for (const headers of seen) {
      expect(headers).not.toHaveProperty("cookie");
      expect(headers).not.toHaveProperty("accept-encoding");
    }
  });

  it("sends user name and password of the URL as basic auth, unless the caller sets its own", async () => {
    const seen: (string | undefined)[] = [];
    const server = await startServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end();
    });
    const outgoing = open();
    const url = `http://us%65r:p%40ss@127.0.0.1:${server.port}/`;
    await outgoing.fetch({ ...POST, url });
    await outgoing.fetch({ ...POST, url, headers: { Authorization: "Bearer mine" } });
    expect(seen).toEqual([`Basic ${Buffer.from("user:p@ss").toString("base64")}`, "Bearer mine"]);
  });

  it("reuses one connection for successive requests, and opens four at most for parallel ones", async () => {
    let running = 0;
    let most = 0;
    const server = await startServer((_request, response) => {
      running += 1;
      most = Math.max(most, running);
      setTimeout(() => {
        running -= 1;
        response.end("ok");
      }, 10);
    });
    const outgoing = open();
    for (let i = 0; i < 10; i++) {
      expect(await outgoing.fetch({ ...POST, url: server.url })).toMatchObject({ status: 200 });
    }
    expect(server.sockets).toHaveLength(1);
    const many = await Promise.all(
      Array.from({ length: 40 }, () => outgoing.fetch({ ...POST, url: server.url })),
    );
    expect(many.every((outcome) => outcome.outcome === "response" && outcome.status === 200)).toBe(true);
    expect(most).toBe(4);
    expect(server.sockets).toHaveLength(4);
  });

  it("rejects with the caller's reason when the caller aborts", async () => {
    const server = await raw(() => {});
    const controller = new AbortController();
    const pending = open().fetch({ ...POST, url: server.url, signal: controller.signal });
    await expect.poll(() => server.sockets.length).toBe(1);
    controller.abort(new Error("shutting down"));
    await expect(pending).rejects.toThrow("shutting down");
    const late = open().fetch({ ...POST, url: server.url, signal: controller.signal });
    await expect(late).rejects.toThrow("shutting down");
  });

  it("rejects when the client closes, which is not a failure of the receiver", async () => {
    const server = await raw(() => {});
    const outgoing = open();
    const pending = expect(outgoing.fetch({ ...POST, url: server.url })).rejects.toThrow();
    await expect.poll(() => server.sockets.length).toBe(1);
    await outgoing.close();
    await pending;
  });
});

describe("a slow server", () => {
  const { tick }: { tick(ms: number): void } = createRequire(import.meta.url)("undici/lib/util/timers.js");

  it("has as long as the caller gives it, directly and through a proxy", async () => {
    const proxy = await startHttpProxy();
    closers.push(() => proxy.close());
    for (const options of [{}, { egressProxy: `http://127.0.0.1:${proxy.port}` }]) {
      const isAsked = createGate();
      const mayRespond = createGate();
      const server = await startServer(async (_request, response) => {
        isAsked.open();
        await mayRespond.opened;
        response.end("late");
      });
      const outcome = open(options).fetch({ ...POST, url: server.url, totalMs: 3_600_000 });
      await isAsked.opened;
      // Half an hour on undici's clock, which starts a timer with the next tick.
      tick(1_000);
      tick(1_800_000);
      mayRespond.open();
      expect(await outcome).toMatchObject({ outcome: "response", status: 200 });
    }
    expect(proxy.targets).toHaveLength(1);
  });
});

describe("redirect responses", () => {
  it.each([301, 302, 303, 307, 308])("are returned and never followed (%d)", async (status) => {
    const internal = await startServer((_request, response) => response.end("internal"));
    const location = internal.url;
    const server = await startServer((_request, response) => {
      response.writeHead(status, { location, refresh: `0; url=${location}` }).end();
    });
    const outgoing = open();
    for (const method of ["POST", "GET"]) {
      const outcome = await outgoing.fetch({ url: server.url, method, totalMs: 20_000, maxBytes: 10 });
      expect(outcome).toMatchObject({ outcome: "response", status, headers: { location } });
    }
    expect(internal.sockets).toHaveLength(0);
  });
});

describe("a hostile receiver", () => {
  const ends = (server: Server, totalMs = POST.totalMs) =>
    open().fetch({ ...POST, url: server.url, totalMs });
  const TIMED_OUT = {
    outcome: "failed",
    failure: "timeout_total",
    error: "No response within the time limit.",
  };

  it.each<[string, (socket: net.Socket) => void]>([
    ["accepts and never responds", () => {}],
    [
      "drips its headers",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        drip(socket, "x-a: b\r\n");
      },
    ],
    [
      "floods with interim responses",
      (socket) => {
        const timer = setInterval(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n".repeat(50)), 5);
        socket.on("close", () => clearInterval(timer));
      },
    ],
  ])("that %s is abandoned at the deadline, and its socket is cut", async (_, behave) => {
    const server = await raw(behave);
    expect(await ends(server, 400)).toMatchObject(TIMED_OUT);
    await expect.poll(() => server.sockets.every((socket) => socket.destroyed)).toBe(true);
  });

  it("that never ends its body is cut at the limit, long before the deadline", async () => {
    let written = 0;
    const server = await raw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const chunk = Buffer.alloc(64 * 1024, "x");
      const pour = (): void => {
        while (!socket.destroyed && socket.write(chunk)) {
          written += chunk.length;
        }
      };
      socket.on("drain", pour);
      pour();
    });
    const outcome = await open().fetch({ ...POST, url: server.url, maxBytes: 10_000, totalMs: 60_000 });
    expect(outcome).toMatchObject({ outcome: "response", status: 200, truncated: true });
    expect(outcome.outcome === "response" && outcome.body.length).toBe(10_000);
    await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
    expect(written).toBeLessThan(32 * 1024 * 1024);
  });

  it("that sends a body of exactly the limit is read completely", async () => {
    const server = await startServer((_request, response) => response.end("x".repeat(1000)));
    const outcome = await open().fetch({ ...POST, url: server.url, maxBytes: 1000 });
    expect(outcome).toMatchObject({ truncated: false });
    const cut = await open().fetch({ ...POST, url: server.url, maxBytes: 999 });
    expect(cut).toMatchObject({ truncated: true });
  });

  it("has its body left unread while the limit is pending, and is abandoned at the deadline", async () => {
    const server = await startServer((_request, response) => response.end("x".repeat(1000)));
    const later = () => new Promise<number>((resolve) => setImmediate(resolve, 1000));
    const outcome = await open().fetch({ ...POST, url: server.url, maxBytes: 1, maxBytesFor: later });
    expect(outcome).toMatchObject({ truncated: false, body: Buffer.from("x".repeat(1000)) });
    const never = new Promise<number>(() => {});
    const late = { ...POST, url: server.url, maxBytes: 1, totalMs: 200, maxBytesFor: () => never };
    expect(await open().fetch(late)).toMatchObject({ outcome: "failed", failure: "timeout_total" });
  });

  it("that sends a gzip bomb is read without decompression", async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const server = await startServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    });
    const outcome = await open().fetch({ ...POST, url: server.url, maxBytes: 1024 * 1024 });
    expect(outcome.outcome === "response" && outcome.body.equals(bomb)).toBe(true);
  });

  it("that resets during the body has responded", async () => {
    const server = await raw((socket) => {
      socket.write("HTTP/1.1 204 No Content\r\n\r\n");
      socket.resetAndDestroy();
    });
    expect(await ends(server)).toMatchObject({ outcome: "response", status: 204 });
    const half = await raw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", () => {
        setTimeout(() => socket.resetAndDestroy(), 50);
      });
    });
    const outcome = await ends(half);
    expect(outcome).toMatchObject({ outcome: "response", status: 200, truncated: true });
    expect(outcome.outcome === "response" && outcome.body.toString()).toBe("half");
  });

  it("that resets or closes before its headers has failed", async () => {
    const resetting = await raw((socket) => socket.resetAndDestroy());
    expect(await ends(resetting)).toMatchObject({ outcome: "failed", failure: "reset" });
    const closing = await raw((socket) => socket.end());
    expect(await ends(closing)).toMatchObject({ outcome: "failed", failure: "reset" });
  });

  it("that sends more than 16 KiB of headers has failed", async () => {
    for (const headers of [`x: ${"y".repeat(20_000)}\r\n`, "x-a: b\r\n".repeat(10_000)]) {
      const server = await raw((socket) => socket.write(`HTTP/1.1 200 OK\r\n${headers}\r\n`));
      expect(await ends(server)).toMatchObject({ outcome: "failed", failure: "protocol" });
    }
    const fitting = await raw((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(10_000)}\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await ends(fitting)).toMatchObject({ outcome: "response", status: 200 });
  });

  it("that does not speak HTTP has failed", async () => {
    for (const text of [
      "SSH-2.0-OpenSSH_9.6\r\n",
      "\0\0\0\0",
      "HTTP/1.1 OK\r\n\r\n",
      "HTTP/1.1 101 Switching\r\n\r\n",
    ]) {
      const server = await raw((socket) => socket.write(text));
      expect(await ends(server)).toMatchObject({ outcome: "failed", durationMs: expect.any(Number) });
    }
  });

  it("that refuses the connection has failed, and the error text names no address", async () => {
    const server = net.createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const outcome = await open().fetch({ ...POST, url: `http://127.0.0.1:${port}/` });
    expect(outcome).toMatchObject({
      failure: "refused",
      error: "The connection was refused. (ECONNREFUSED)",
    });
  });

  it("that speaks no TLS on https has failed", async () => {
    const server = await startServer((_request, response) => response.end());
    const outcome = await open().fetch({ ...POST, url: server.url.replace("http:", "https:") });
    expect(outcome).toMatchObject({ outcome: "failed", failure: "tls" });
  });

  it("whose certificate comes from an untrusted authority has failed, and has received nothing", async () => {
    let requests = 0;
    const credentials = makeAuthority("An authority of nobody").issue("127.0.0.1");
    const server = await listen(
      https.createServer(credentials, (_request, response) => response.end(String(++requests))),
    );
    const outcome = await open().fetch({ ...POST, url: server.url.replace("http:", "https:") });
    expect(outcome).toMatchObject({ outcome: "failed", failure: "tls" });
    expect([server.sockets.length, requests]).toEqual([1, 0]);
  });

  it("that drips its body has responded: the body is the part that came until the deadline", async () => {
    const server = await raw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
      drip(socket, "x");
    });
    const outcome = await ends(server, 500);
    expect(outcome).toMatchObject({ outcome: "response", status: 200, truncated: true });
    expect(outcome.outcome === "response" && /^x{3,}$/.test(outcome.body.toString())).toBe(true);
  });

  it("that hangs in the TLS handshake is abandoned when connecting takes too long", async () => {
    const server = await raw(() => {});
    const url = server.url.replace("http:", "https:");
    const outcome = await open({ connectMs: 100 }).fetch({ ...POST, url, totalMs: 60_000 });
    expect(outcome).toMatchObject({ outcome: "failed", failure: "timeout_connect" });
  });

  it("that hangs does not delay another receiver, however many requests wait for it", async () => {
    const hanging = await raw(() => {});
    const healthy = await startServer((_request, response) => response.end("ok"));
    const outgoing = open();
    const caller = new AbortController();
    const call = { ...POST, url: hanging.url, totalMs: 600_000, signal: caller.signal };
    let ended = 0;
    const waiting = Array.from({ length: 60 }, async () => {
      const reason = await outgoing.fetch(call).catch((error: unknown) => error);
      ended += 1;
      return reason;
    });
    const served = await Promise.all(
      Array.from({ length: 200 }, () => outgoing.fetch({ ...POST, url: healthy.url })),
    );
    expect(served.every((outcome) => outcome.outcome === "response" && outcome.status === 200)).toBe(true);
    expect(hanging.sockets).toHaveLength(4);
    expect(ended).toBe(0);
    caller.abort("enough");
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(["enough"]));
  });
});

describe("requests that cannot be sent", () => {
  it.each(["a\r\nx-injected: 1", "a\nb", "a\0b", "a\r\n b"])(
    "because of the header value %j are refused",
    async (value) => {
      const server = await startServer((_request, response) => response.end());
      const outcome = await open().fetch({ ...POST, url: server.url, headers: { "x-name": value } });
      expect(outcome).toMatchObject({ outcome: "failed", failure: "protocol" });
      expect(server.sockets).toHaveLength(0);
    },
  );

  it.each(["/hook", "file:///etc/passwd"])("because of the URL %j are refused", async (url) => {
    const outgoing = open();
    expect(await outgoing.fetch({ ...POST, url })).toMatchObject({
      outcome: "failed",
      failure: "invalid_url",
    });
    expect(await outgoing.findBlockReason(url)).toMatch(/URL/);
  });

  it("because only https is allowed are refused", async () => {
    const server = await startServer((_request, response) => response.end());
    const outgoing = open({ httpsOnly: true });
    expect(await outgoing.findBlockReason(server.url)).toBe("The URL must begin with https://.");
    expect(await outgoing.fetch({ ...POST, url: server.url })).toMatchObject({ failure: "invalid_url" });
    expect(await outgoing.findBlockReason(server.url.replace("http:", "https:"))).toBeUndefined();
    expect(server.sockets).toHaveLength(0);
  });
});

describe("file downloads", () => {
  const pieces: Buffer[] = [];
  const FILE = {
    totalMs: 30_000,
    maxBytes: 1_000_000,
    onChunk: (chunk: Buffer) => {
      pieces.push(chunk);
    },
  };
  afterEach(() => {
    pieces.length = 0;
  });

  it("deliver the file chunk by chunk", async () => {
    const file = Buffer.alloc(900_000, "waygate");
    const server = await startServer((_request, response) => {
      response.setHeader("content-type", "image/png");
      response.end(file);
    });
    const outcome = await open().download({ ...FILE, url: server.url });
    expect(outcome).toMatchObject({
      outcome: "response",
      status: 200,
      bytes: 900_000,
      headers: { "content-type": "image/png" },
    });
    expect(pieces.length).toBeGreaterThan(1);
    expect(Buffer.concat(pieces).equals(file)).toBe(true);
  });

  it("wait for the reader of the chunks", async () => {
    const server = await startServer((_request, response) => response.end(Buffer.alloc(400_000)));
    let taking = 0;
    const onChunk = async (): Promise<void> => {
      taking += 1;
      expect(taking).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      taking -= 1;
    };
    expect(await open().download({ ...FILE, url: server.url, onChunk })).toMatchObject({ bytes: 400_000 });
  });

  it("fail as too large before reading if the declared length says so, else while reading", async () => {
    const lying = await startServer((_request, response) => {
      response.write(Buffer.alloc(600_000));
      response.end(Buffer.alloc(600_000));
    });
    const honest = await startServer((_request, response) => response.end(Buffer.alloc(1_200_000)));
    for (const server of [lying, honest]) {
      pieces.length = 0;
      const outcome = await open().download({ ...FILE, url: server.url });
      expect(outcome).toMatchObject({ outcome: "failed", failure: "too_large" });
      expect(Buffer.concat(pieces).length).toBeLessThanOrEqual(1_000_000);
      await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
    }
    expect(pieces).toHaveLength(0);
  });

  it("fail when the file is truncated or drips beyond the deadline: half a file is no file", async () => {
    const broken = await raw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", () =>
        setTimeout(() => socket.resetAndDestroy(), 50),
      );
    });
    expect(await open().download({ ...FILE, url: broken.url })).toMatchObject({
      outcome: "failed",
      failure: "reset",
    });
    const dripping = await raw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
      drip(socket, "x");
    });
    const outcome = await open().download({ ...FILE, url: dripping.url, totalMs: 400 });
    expect(outcome).toMatchObject({ outcome: "failed", failure: "timeout_total" });
  });

  it("return the status of a response that is no file, without its body", async () => {
    const server = await startServer((_request, response) => response.writeHead(404).end("<html>"));
    expect(await open().download({ ...FILE, url: server.url })).toMatchObject({
      outcome: "response",
      status: 404,
      bytes: 0,
    });
    expect(pieces).toHaveLength(0);
  });

  it("throw what the reader of the chunks throws, even when it looks like a network error", async () => {
    const server = await startServer((_request, response) => response.end("x"));
    const full = Object.assign(new Error("disk"), { code: "ECONNRESET" });
    const onChunk = (): void => {
      throw full;
    };
    await expect(open().download({ ...FILE, url: server.url, onChunk })).rejects.toBe(full);
  });
});
