import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { signStandard } from "../../core/webhooks/delivery/webhook-signature.ts";
import { createWebhookForwarder, type WebhookForwarder } from "./forward-webhook.ts";
import { startWebhookListener, type VerifiedWebhook, type WebhookListener } from "./webhook-listener.ts";

let server: Server;
let forwarder: WebhookForwarder;
let respond: RequestListener;
const seen: { request: IncomingMessage; body: Buffer }[] = [];

beforeEach(async () => {
  seen.length = 0;
  respond = (_, response) => void response.writeHead(204).end();
  server = createServer(async (request, response) => {
    seen.push({ request, body: await buffer(request) });
    respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  forwarder = createWebhookForwarder(`http://localhost:${port}/hook?a=1`);
});
afterEach(async () => {
  await forwarder.close();
  await new Promise((resolve) => server.close(resolve));
});

const BODY = Buffer.from([0x7b, 0x20, 0xff, 0x00, 0x7d]);
const HEADERS = {
  host: "listener:1",
  connection: "keep-alive",
  "transfer-encoding": "chunked",
  expect: "100-continue",
  "content-length": "999",
  "content-type": "application/json; charset=utf-8",
  "webhook-signature": "v1,abc",
  "x-own": "kept",
};

describe("a webhook that is passed on to a local program", () => {
  test("has the same bytes and headers, but for those of the connection", async () => {
    await forwarder.forward({ headers: HEADERS, body: BODY });
    const [{ request, body } = { request: undefined, body: undefined }] = seen;
    expect(body?.equals(BODY)).toBe(true);
    expect(request).toMatchObject({ method: "POST", url: "/hook?a=1" });
    expect(request?.headers).toMatchObject({
      host: expect.stringContaining("localhost:"),
      "content-length": "5",
      "content-type": "application/json; charset=utf-8",
      "webhook-signature": "v1,abc",
      "x-own": "kept",
    });
    expect(request?.headers).not.toHaveProperty("expect");
  });

  test("gets the program's status, type and body as its response", async () => {
    respond = (_, response) =>
      void response
        .writeHead(503, { "content-type": "text/x", "retry-after": "9", "set-cookie": "a=b" })
        .end("busy");
    const { response, note } = await forwarder.forward({ headers: HEADERS, body: BODY });
    expect({ ...response, body: response.body?.toString() }).toEqual({
      status: 503,
      headers: { "content-type": "text/x", "retry-after": "9" },
      body: "busy",
    });
    expect(note).toMatch(/^-> http:\/\/localhost:\d+\/hook\?a=1 responded with 503 in \d+ ms busy$/);
  });

  test("shows a failed response without anything that a terminal interprets, and cuts a long one", async () => {
    respond = (_, response) => void response.writeHead(500).end(`\u001b[2J\n${"a".repeat(1024 * 1024)}`);
    const { response, note } = await forwarder.forward({ headers: HEADERS, body: BODY });
    expect(note).toContain("500");
    expect(note).not.toMatch(/\p{Cc}/u);
    expect(note.length).toBeLessThan(500);
    expect(response.body?.length).toBeLessThanOrEqual(64 * 1024);
  });

  test("follows no redirect", async () => {
    respond = (_, response) => void response.writeHead(302, { location: "/elsewhere" }).end();
    expect((await forwarder.forward({ headers: HEADERS, body: BODY })).response.status).toBe(302);
    expect(seen).toHaveLength(1);
  });

  test("gets 502 with the reason if no program listens there", async () => {
    const away = createWebhookForwarder("http://127.0.0.1:1/");
    const { response, note } = await away.forward({ headers: HEADERS, body: BODY });
    await away.close();
    expect(response.status).toBe(502);
    expect(note).toContain("http://127.0.0.1:1/ did not respond. The connection was refused. (ECONNREFUSED)");
    expect(note).toContain("Is the program running?");
  });
});

const SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const MIB = 1024 * 1024;

let listener: WebhookListener;
let received: VerifiedWebhook[];
let refusals: string[];

beforeEach(async () => {
  [received, refusals] = [[], []];
  listener = await startWebhookListener({
    host: "127.0.0.1",
    port: 0,
    secret: SECRET,
    respond: async (webhook) => {
      received.push(webhook);
      if (webhook.event === "break") throw new Error("broken");
      return { status: 202, headers: { "content-type": "text/plain" }, body: Buffer.from("thanks") };
    },
    onRefusal: (reason) => refusals.push(reason),
  });
});
afterEach(() => listener.close());

function signed(body: string, secret = SECRET): RequestInit {
  const seconds = Math.floor(Date.now() / 1000);
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(seconds),
    "webhook-signature": signStandard(secret, "evt_1", seconds, Buffer.from(body)),
  };
  return { method: "POST", headers, body };
}

/** Sends raw bytes and returns the response. */
function sendRaw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(listener.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let said = "";
    socket.setEncoding("latin1").on("data", (text: string) => {
      said += text;
    });
    socket.on("error", () => {}).on("close", () => resolve(said));
    socket.write(bytes, "latin1");
  });
}

/** Checks at the end of every hostile test that the listener still works. */
async function expectWell(): Promise<void> {
  const { length } = received;
  expect((await fetch(listener.url, signed("{}"))).status).toBe(202);
  expect(received).toHaveLength(length + 1);
}

describe("the receiver of waygate listen", () => {
  test("passes a genuine request on with its bytes, and returns the response", async () => {
    const body = '{"event":"message.received",  "data":{"text":"ol\u00e1"}}';
    const response = await fetch(listener.url, signed(body));
    expect([response.status, await response.text()]).toEqual([202, "thanks"]);
    expect(received[0]?.body.toString("utf8")).toBe(body);
    expect(received[0]?.event).toEqual(JSON.parse(body));
    expect(refusals).toEqual([]);
  });

  test("refuses what is not signed, or signed with another secret, and shows none of it", async () => {
    const forged = signed('{"event":"\\u001b[2J"}', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    const bare = { method: "POST", body: "{}" };
    for (const request of [forged, bare]) expect((await fetch(listener.url, request)).status).toBe(401);
    expect(received).toEqual([]);
    expect(refusals).toEqual([
      expect.stringContaining("401: The signature does not match"),
      expect.stringContaining("401: The request has no webhook-signature"),
    ]);
    await expectWell();
  });

  test("refuses other methods without reading a body", async () => {
    expect((await fetch(listener.url)).status).toBe(405);
    expect((await fetch(listener.url, { ...signed("{}"), method: "PUT" })).status).toBe(405);
    await expectWell();
  });

  test("refuses a body above 1 MiB by its announced length, before it arrives", async () => {
    const said = await sendRaw(
      `POST / HTTP/1.1\r\nHost: x\r\nwebhook-signature: x\r\nContent-Length: ${MIB + 1}\r\n\r\n`,
    );
    expect(said).toMatch(/^HTTP\/1\.1 413 /);
    await expectWell();
  });

  test("refuses a body above 1 MiB that arrives in chunks without a length", async () => {
    const chunk = `${(64 * 1024).toString(16)}\r\n${"a".repeat(64 * 1024)}\r\n`;
    const head = "POST / HTTP/1.1\r\nHost: x\r\nwebhook-signature: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    const said = await sendRaw(head + chunk.repeat(40));
    // The connection may be reset before the response is read.
    expect(said === "" || said.startsWith("HTTP/1.1 413 ")).toBe(true);
    expect(refusals).toEqual(["413: The body is larger than 1 MiB."]);
    await expectWell();
  });

  test("survives hostile headers, broken requests and a request that is cut off", async () => {
    const heads = [
      `webhook-id: evt_1\r\nwebhook-timestamp: ${"9".repeat(5_000)}\r\nwebhook-signature: v1,AAAA\r\n`,
      `webhook-signature: ${"v1,A ".repeat(2_000)}\r\n`,
      `webhook-signature: v1,${"\u00e9".repeat(44)}\r\n`,
      `webhook-signature: x\r\nwebhook-signature: y\r\n__proto__: z\r\n`,
      `x: ${"a".repeat(20_000)}\r\n`,
      "Content-Length: -5\r\n",
      "webhook-signature: x\r\nContent-Length: 1e99\r\n",
    ];
    for (const head of heads) {
      const request = `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}`;
      const length = head.includes("Content-Length") ? "" : "Content-Length: 2\r\n";
      expect(await sendRaw(`${request}${length}\r\n{}`)).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
    expect(await sendRaw("\u0000\u0001\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    const { hostname, port } = new URL(listener.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        const head = "POST / HTTP/1.1\r\nHost: x\r\nwebhook-signature: x\r\nContent-Length: 9\r\n\r\n{";
        socket.write(head, () => socket.resetAndDestroy());
      });
      socket.on("close", () => resolve());
    });
    expect(received).toEqual([]);
    await expectWell();
  });

  test("responds with 500 to a request that it cannot handle, and goes on", async () => {
    expect((await fetch(listener.url, signed('"break"'))).status).toBe(500);
    expect(refusals).toEqual(["broken"]);
    await expectWell();
  });

  test("names the option if its port is taken", async () => {
    const { port } = new URL(listener.url);
    const second = startWebhookListener({
      host: "127.0.0.1",
      port: Number(port),
      secret: SECRET,
      respond: async () => ({ status: 204 }),
      onRefusal: () => {},
    });
    await expect(second).rejects.toMatchObject({
      name: "CommandError",
      message: expect.stringContaining("Choose another one with --port."),
    });
  });
});
