import { once } from "node:events";
import { createServer } from "node:http";
import net, { type AddressInfo } from "node:net";
import { buildConnector, Client } from "undici";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { startLocalServer } from "../../../test/servers/local-server.ts";
import { createAddressPolicy } from "./address-policy.ts";
import { BlockedTargetError, ClosedError } from "./classify-fetch-failure.ts";
import { type ConnectionPools, createConnectionPools, type LeasedSocket } from "./connection-pools.ts";
import { createDnsResolver, DnsResolutionError } from "./dns-resolver.ts";
import { createOutgoingConnector } from "./outgoing-connector.ts";
import { readInPieces } from "./read-in-pieces.ts";

let pools: ConnectionPools;
const policy = createAddressPolicy({ allowedHosts: ["loopback"] });

afterEach(() => pools.close());

function start(): ConnectionPools {
  pools = createConnectionPools({ lookup: createDnsResolver(), egressProxy: undefined });
  return pools;
}

function borrow(port = 1, policyKey = "tenant", isPaced = false): Promise<LeasedSocket> {
  const host = "127.0.0.1";
  return pools.lease({
    origin: `http://${host}:${port}`,
    target: { host, port },
    policyKey,
    policy,
    isPaced,
  });
}

/** Whether the socket is leased. */
async function isLeased(line: Promise<LeasedSocket>): Promise<boolean> {
  const later = new Promise<boolean>((resolve) => setImmediate(() => resolve(false)));
  return Promise.race([line.then(() => true), later]);
}

describe("the pool of an origin", () => {
  it("leases four sockets, and the fifth caller waits for one", async () => {
    start();
    const lines = await Promise.all([borrow(), borrow(), borrow(), borrow()]);
    const fifth = borrow();
    expect(await isLeased(fifth)).toBe(false);
    lines[0]?.release();
    expect((await fifth).dispatcher).toBe(lines[0]?.dispatcher);
  });

  it("leases more sockets to a caller with its own limit, and idle ones to every caller", async () => {
    start();
    const lines = await Promise.all([borrow(), borrow(), borrow(), borrow()]);
    const paced = await borrow(1, "tenant", true);
    expect(lines.map(({ dispatcher }) => dispatcher)).not.toContain(paced.dispatcher);
    paced.release();
    expect((await borrow()).dispatcher).toBe(paced.dispatcher);
  });

  it("replaces sockets that end with an error, in order", async () => {
    start();
    const lines = await Promise.all([borrow(), borrow(), borrow(), borrow()]);
    const [fifth, sixth] = [borrow(), borrow()];
    lines[0]?.release(new Error("broken"));
    lines[0]?.release();
    expect((await fifth).dispatcher).not.toBe(lines[0]?.dispatcher);
    expect(await isLeased(sixth)).toBe(false);
  });

  it("shares no socket with other origins or other policies", async () => {
    start();
    await Promise.all([borrow(), borrow(), borrow(), borrow()]);
    expect(await isLeased(borrow())).toBe(false);
    expect(await isLeased(borrow(2))).toBe(true);
    expect(await isLeased(borrow(1, "operator"))).toBe(true);
  });
});

describe("the number of origins", () => {
  it("is limited: the least recently used one loses its idle socket", async () => {
    start();
    const { server, port, shut } = await startLocalServer((_request, response) => response.end("ok"));
    const line = await borrow(port);
    const { body } = await line.dispatcher.request({ path: "/", method: "GET" });
    await body.text();
    line.release();
    const connections = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    expect(await connections()).toBe(1);
    for (let other = 1; other <= 600; other++) {
      (await borrow(other)).release();
    }
    expect(pools.size).toBe(500);
    await expect.poll(connections).toBe(0);
    await shut();
  });
});

describe("closing the pools", () => {
  it("rejects the callers that wait", async () => {
    start();
    await Promise.all([borrow(), borrow(), borrow(), borrow()]);
    const waiting = expect(borrow()).rejects.toBeInstanceOf(ClosedError);
    await pools.close();
    await waiting;
  });
});

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) {
    close();
  }
});

/** Dials as undici does. Returns the result and the number of connections to the listener. */
async function dial(hostname: string, answers: string[], allowedHosts: string[]) {
  let hits = 0;
  const server = net.createServer(() => {
    hits += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const lookup = async () => answers.map((address) => ({ address, family: net.isIP(address) }));
  const policy = createAddressPolicy({ allowedHosts });
  const connect = createOutgoingConnector(policy, { host: hostname, port }, lookup, 5_000);
  const error = await new Promise<Error | null>((resolve) => {
    connect({ hostname, protocol: "http:", port: String(port) }, (fault, socket) => {
      socket?.destroy();
      resolve(fault);
    });
  });
  await new Promise((resolve) => setImmediate(resolve));
  return { error, hits };
}

it.each(["127.0.0.1", "::1", "::ffff:7f00:1"])(
  "the connector refuses the literal %s, whatever the caller checked",
  async (host) => {
    const { error, hits } = await dial(host, ["8.8.8.8"], ["external"]);
    expect(error).toBeInstanceOf(BlockedTargetError);
    expect(hits).toBe(0);
  },
);

it("the connector tries the next address when the first does not respond", async () => {
  expect((await dial("name.test", ["127.0.0.99", "127.0.0.1"], ["loopback"])).error).toBeNull();
});

/** Sends a request to this server and counts the bytes that the parser consumed. */
async function requestFrom(server: net.Server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  let taken = 0;
  const dial = readInPieces(buildConnector({}));
  const connect: buildConnector.connector = (options, callback) =>
    dial(options, (...result) => {
      const [, socket] = result;
      const read = socket?.read.bind(socket);
      if (socket && read) {
        socket.read = (size) => {
          const piece: Buffer | null = read(size);
          taken += piece?.length ?? 0;
          return piece;
        };
      }
      callback(...result);
    });
  const { port } = server.address() as AddressInfo;
  const client = new Client(`http://127.0.0.1:${port}`, { connect, maxHeaderSize: 16_384 });
  onTestFinished(async () => {
    await client.destroy();
    server.close();
  });
  const response = client
    .request({ method: "GET", path: "/" })
    .then(async ({ body }) => (await body.arrayBuffer()).byteLength);
  return { response, countTaken: () => taken };
}

it("the parser is given nothing after the headers have exceeded its limit", async () => {
  const headers = `HTTP/1.1 200 OK\r\n${"x-many: yes\r\n".repeat(10_000)}content-length: 0\r\n\r\n`;
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => void socket.write(headers));
  });
  const { response, countTaken } = await requestFrom(server);
  await expect(response).rejects.toMatchObject({ code: "UND_ERR_HEADERS_OVERFLOW" });
  // Of 13 bytes, names and values are 9, which count for the limit.
  expect(countTaken()).toBeLessThan((16_384 * 13) / 9 + 1_100);
});

it("a body of many pieces arrives whole", async () => {
  const server = createServer((_, res) => void res.end(Buffer.alloc(3_000_001, "x")));
  const { response, countTaken } = await requestFrom(server);
  expect(await response).toBe(3_000_001);
  expect(countTaken()).toBeGreaterThan(3_000_001);
});

afterEach(() => {
  vi.useRealTimers();
});

/** A resolver that responds on request. */
function controlled() {
  const asked: string[] = [];
  const open = new Map<string, { answer(): void; fail(): void }>();
  const lookup = (name: string) =>
    new Promise<{ address: string; family: number }[]>((resolve, reject) => {
      asked.push(name);
      open.set(name, {
        answer: () => resolve([{ address: "8.8.8.8", family: 4 }]),
        fail: () => reject(Object.assign(new Error("getaddrinfo"), { code: "EAI_AGAIN" })),
      });
    });
  return { asked, open, lookup: createDnsResolver(lookup) };
}

describe("the DNS resolver", () => {
  it("sends one query for equal names at the same time, and a new one afterwards", async () => {
    const { asked, open, lookup } = controlled();
    const both = Promise.all([lookup("a.test"), lookup("a.test")]);
    await expect.poll(() => asked).toEqual(["a.test"]);
    open.get("a.test")?.answer();
    expect(await both).toEqual([[{ address: "8.8.8.8", family: 4 }], [{ address: "8.8.8.8", family: 4 }]]);
    void lookup("a.test");
    await expect.poll(() => asked).toEqual(["a.test", "a.test"]);
  });

  /** A name that resolved is classified differently from one that did not. */
  async function resolve({ asked, open, lookup }: ReturnType<typeof controlled>, ...names: string[]) {
    for (const name of names) {
      const answer = lookup(name);
      open.get(name)?.answer();
      await answer;
    }
    asked.length = 0;
  }

  it("runs two queries at once, in order, so that files and passwords keep their threads", async () => {
    const resolver = controlled();
    const names = ["a.test", "b.test", "c.test", "d.test"];
    await resolve(resolver, ...names);
    const { asked, open, lookup } = resolver;
    const all = Promise.allSettled(names.map(lookup));
    await expect.poll(() => asked).toEqual(["a.test", "b.test"]);
    open.get("b.test")?.fail();
    await expect.poll(() => asked).toEqual(["a.test", "b.test", "c.test"]);
    open.get("a.test")?.answer();
    await expect.poll(() => asked).toHaveLength(4);
    open.get("c.test")?.answer();
    open.get("d.test")?.answer();
    expect((await all).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
  });

  it("reserves a slot for names that resolved, however many others under one domain do not", async () => {
    vi.useFakeTimers();
    const resolver = controlled();
    await resolve(resolver, "good.test", "better.test");
    const { asked, open, lookup } = resolver;
    const dead = Array.from({ length: 20 }, (_, i) => `hook-${i}.dead.test`);
    const all = Promise.allSettled(dead.map(lookup));
    const good = Promise.all(["good.test", "better.test"].map(lookup));
    expect(asked).toEqual(["hook-0.dead.test", "good.test"]);
    open.get("good.test")?.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual(["hook-0.dead.test", "good.test", "better.test"]);
    open.get("better.test")?.answer();
    await good;
    for (const [i, name] of dead.entries()) {
      open.get(name)?.fail();
      await vi.advanceTimersByTimeAsync(0);
      expect(asked).toHaveLength(Math.min(i + 4, 22));
    }
    expect((await all).every(({ status }) => status === "rejected")).toBe(true);
  });

  it("gives one slot at most to domains that failed slowly, and the other slot to new names", async () => {
    vi.useFakeTimers();
    const { asked, open, lookup } = controlled();
    const slow = Promise.allSettled(["a.one.test", "a.two.test"].map(lookup));
    await vi.advanceTimersByTimeAsync(3100);
    for (const name of ["a.one.test", "a.two.test"]) open.get(name)?.fail();
    await slow;
    for (const name of ["b.one.test", "b.two.test", "new.test"]) void lookup(name).catch(() => {});
    expect(asked.slice(2)).toEqual(["b.one.test", "new.test"]);
  });

  it("removes a name from the queue when no caller has requested it for 6 s", async () => {
    vi.useFakeTimers();
    const { asked, open, lookup } = controlled();
    const held = expect(lookup("held.dead.test")).rejects.toBeInstanceOf(DnsResolutionError);
    const left = expect(lookup("left.dead.test")).rejects.toThrow("in time");
    const wanted = lookup("wanted.dead.test");
    await vi.advanceTimersByTimeAsync(4000);
    expect(lookup("wanted.dead.test")).toBe(wanted);
    await vi.advanceTimersByTimeAsync(4000);
    open.get("held.dead.test")?.fail();
    await held;
    await left;
    expect(asked).toEqual(["held.dead.test", "wanted.dead.test"]);
    open.get("wanted.dead.test")?.answer();
    expect(await wanted).toHaveLength(1);
  });

  it("caches a slow failure for 30 s, for that name only", async () => {
    vi.useFakeTimers();
    const { asked, open, lookup } = controlled();
    const slow = expect(lookup("slow.test")).rejects.toBeInstanceOf(DnsResolutionError);
    await vi.advanceTimersByTimeAsync(3100);
    open.get("slow.test")?.fail();
    await slow;
    await expect(lookup("slow.test")).rejects.toThrow("failed slowly");
    const other = lookup("other.test");
    expect(asked).toEqual(["slow.test", "other.test"]);
    open.get("other.test")?.answer();
    await other;
    await vi.advanceTimersByTimeAsync(30_100);
    void lookup("slow.test");
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual(["slow.test", "other.test", "slow.test"]);
  });

  it("resolves real names through the system", async () => {
    const addresses = await createDnsResolver()("localhost");
    expect(addresses.map(({ address }) => address)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^(127\.0\.0\.1|::1)$/)]),
    );
  });
});
