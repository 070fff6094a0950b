import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createWebhookForwarder, type WebhookForwarder } from "./forward-webhook.ts";

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
