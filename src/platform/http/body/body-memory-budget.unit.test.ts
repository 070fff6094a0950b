import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { GatewayError } from "../../gateway-error.ts";
import { createLog } from "../../log/log.ts";
import { createHttpServer, type HttpServer } from "../http-server.ts";
import { type Contract, route } from "../route.ts";

const KIB = 1024;
const contract = {
  keep: route({
    http: "POST /keep",
    access: "account",
    tag: "Bodies",
    summary: "Keep a body in memory until it is let go",
    input: z.object({ name: z.string(), text: z.string() }),
    output: z.object({ bytes: z.number() }),
  }),
  fetch: route({
    http: "POST /fetch",
    access: "account",
    tag: "Bodies",
    summary: "Keep as many bytes in memory as asked until it is let go",
    input: z.object({ name: z.string(), bytes: z.number() }),
    output: z.null(),
  }),
  look: route({
    http: "GET /look",
    access: "account",
    tag: "Bodies",
    summary: "Look at nothing",
    input: z.object({}),
    output: z.null(),
  }),
} satisfies Contract;

let server: HttpServer;
let url: string;
const statuses: number[] = [];
/** Lets go what is kept, by name. */
const kept = new Map<string, () => void>();
/** What it takes to know a caller. */
let lookUp = async () => {};

beforeAll(async () => {
  server = await createHttpServer({
    contract,
    handlers: {
      keep: async ({ input: { name, text } }) => {
        if (name !== "") await new Promise<void>((letGo) => kept.set(name, letGo));
        kept.delete(name);
        return { bytes: text.length };
      },
      fetch: async ({ input: { name, bytes }, reserveMemory }) => {
        reserveMemory(bytes);
        await new Promise<void>((letGo) => kept.set(name, letGo));
        kept.delete(name);
        return null;
      },
      look: async () => null,
    },
    authorise: async (_route, { credential }) => {
      await lookUp();
      if (!credential) throw new GatewayError("AUTH_REQUIRED", "Send an API key.");
      return { kind: "user", account_id: 1, user_id: 1, role: "admin", session: "s" } as never;
    },
    log: createLog("silent"),
    strictOutput: true,
    bodyLimitBytes: 1024 * KIB,
    maxBodyBytes: 300 * KIB,
    onResponse: ({ status }) => void statuses.push(status),
  });
  ({ url } = await server.listen("127.0.0.1", 0));
});
afterAll(() => server.close());

const HEADERS = { "content-type": "application/json", "x-api-key": "k" };

function send(name: string, kib: number, { isChunked = false, signal }: SendOptions = {}): Promise<Response> {
  const text = JSON.stringify({ name, text: "x".repeat(kib * KIB) });
  const body = isChunked ? new Blob([text]).stream() : text;
  const init = { method: "POST", headers: HEADERS, body, duplex: "half", ...(signal && { signal }) };
  return fetch(`${url}/keep`, init as RequestInit);
}

interface SendOptions {
  isChunked?: boolean;
  signal?: AbortSignal;
}

const letGo = (name: string) => kept.get(name)?.();
const isKept = (name: string) => expect.poll(() => kept.has(name)).toBe(true);

test("large bodies are refused while others use up the memory budget, and accepted afterwards", async () => {
  const first = send("first", 200);
  await isKept("first");
  for (const isChunked of [false, true]) {
    const refused = await send("", 150, { isChunked });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: "UNAVAILABLE" });
    expect((await send("", 90, { isChunked })).status).toBe(200);
    expect((await send("", 10, { isChunked })).status).toBe(200);
  }
  letGo("first");
  expect((await first).status).toBe(200);
  for (const isChunked of [false, true]) expect((await send("", 150, { isChunked })).status).toBe(200);
});

test("a single body is accepted at any size that its route allows", async () => {
  for (const isChunked of [false, true]) {
    expect((await send("", 900, { isChunked })).status).toBe(200);
    expect((await send("", 1100, { isChunked })).status).toBe(413);
  }
});

test("a body holds its memory until its work is over, even when its sender has disconnected", async () => {
  const leave = new AbortController();
  const gone = send("left", 200, { signal: leave.signal }).catch(() => "gone");
  await isKept("left");
  leave.abort();
  expect(await gone).toBe("gone");
  await expect.poll(() => statuses).toContain(499);
  expect((await send("", 150)).status).toBe(503);
  letGo("left");
  await expect.poll(async () => (await send("", 150)).status).toBe(200);
});

test("a file that a handler reads into memory counts in the budget until the handler is done", async () => {
  const load = (name: string, kib: number) =>
    fetch(`${url}/fetch`, {
      method: "POST",
      headers: HEADERS,
      body: JSON.stringify({ name, bytes: kib * KIB }),
    });
  const first = load("fetched", 200);
  await isKept("fetched");
  const refused = await load("too much", 150);
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "UNAVAILABLE"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await send("", 150)).status).toBe(503);
  letGo("fetched");
  expect((await first).status).toBe(200);
  const next = load("next", 150);
  await isKept("next");
  letGo("next");
  expect((await next).status).toBe(200);
});

test("an incomplete body releases its memory, and unauthenticated clients reserve none", async () => {
  const stranger = await announce("");
  expect((await send("", 150)).status).toBe(200);
  const torn = await announce("x-api-key: k\r\n");
  expect((await send("", 150)).status).toBe(503);
  torn.destroy();
  await expect.poll(async () => (await send("", 150)).status).toBe(200);
  stranger.destroy();
});

test("an unread body does not delay the next request of its connection", async () => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answers = "";
  socket.on("data", (piece) => {
    answers += piece;
  });
  const head = "HTTP/1.1\r\nhost: gateway\r\nx-api-key: k\r\n";
  const bytes = 500 * KIB;
  socket.write(`GET /look ${head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`);
  socket.write(`${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n0\r\n\r\n`);
  socket.write(`GET /look ${head}\r\n`);
  await expect.poll(() => answers).toMatch(/^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 /);
  socket.destroy();
});

test("a body whose sender disconnects during the credential check reserves no memory", async () => {
  let know = () => {};
  let isAsked = false;
  lookUp = () => {
    isAsked = true;
    return new Promise((known) => {
      know = known;
    });
  };
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write("POST /keep HTTP/1.1\r\nhost: gateway\r\nx-api-key: k\r\n");
  socket.write("content-type: application/json\r\ncontent-length: 204800\r\n\r\n");
  await expect.poll(() => isAsked).toBe(true);
  const before = statuses.length;
  socket.destroy();
  await expect.poll(() => statuses.length).toBeGreaterThan(before);
  lookUp = async () => {};
  know();
  expect((await send("", 150)).status).toBe(200);
});

/** A request that was accepted, and whose body never arrives. */
async function announce(credential: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const about = "content-type: application/json\r\ncontent-length: 204800\r\nexpect: 100-continue\r\n";
  socket.write(`POST /keep HTTP/1.1\r\nhost: gateway\r\n${credential}${about}\r\n`);
  await once(socket, "data");
  return socket;
}
