import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "./browser.ts";
import { buildDist } from "./build-dist.ts";
import { ROOT } from "./source-files.ts";

beforeAll(buildDist);

const executablePath = findChromium();
const title = executablePath
  ? "the client"
  : "the client: skipped, no Chromium (scripts/install-chromium.sh)";

const PAGE = `<!doctype html><title>client</title>
<script type="importmap">{"imports":{"zod":"/node_modules/zod/index.js"}}</script>
<script type="module">
import { createClient, verifyWebhook } from "/dist/src/client/client.js";
const client = createClient({ baseUrl: location.origin, apiKey: "wg_x" });
const { data } = await client.sendText({ id: 7, number: "5511988887777", text: "Olá" });
const [vector] = await (await fetch("/docs/reference/events/signature-vectors.json")).json();
const now = new Date(Number(vector["webhook-timestamp"]) * 1000);
const options = { secret: vector.secret, now };
const event = await verifyWebhook({ headers: vector, body: vector.body }, options);
const refusal = await verifyWebhook({ headers: vector, body: vector.body + " " }, options).catch(String);
window.result = { data, event, refusal };
</script>`;

let server: Server;
let browser: Browser;
/** Bodies of the requests, by method and path. */
const sent: Record<string, string> = {};

function typeOf(path: string): string {
  if (path === "/") return "text/html; charset=utf-8";
  return path.endsWith(".js") ? "text/javascript" : "application/json";
}

async function answerCall(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts = [];
  for await (const part of request) parts.push(part as Buffer);
  sent[`${request.method} ${request.url} ${request.headers["x-api-key"]}`] = Buffer.concat(parts).toString();
  response.setHeader("content-type", "application/json");
  response.end('{"success":true,"message":"Message sent","data":{"status":"sent"}}');
}

describe.skipIf(!executablePath)(title, () => {
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const path = request.url ?? "/";
      if (path.startsWith("/api/")) return answerCall(request, response);
      const body = path === "/" ? PAGE : await readFile(join(ROOT, normalize(path))).catch(() => undefined);
      response.setHeader("content-type", typeOf(path));
      response.writeHead(body === undefined ? 404 : 200).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  });

  afterAll(async () => {
    await browser?.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test("loads as it is built, sends and verifies webhooks, with only zod as a dependency", async () => {
    const page = await browser.newPage();
    const troubles: string[] = [];
    page.on("pageerror", (error) => troubles.push(error.message));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const result = await page
      .waitForFunction("window.result", undefined, { timeout: 60_000 })
      .catch(() => expect.fail(`nothing came: ${troubles.join(", ")}`));
    expect(await result.jsonValue()).toEqual({
      data: { status: "sent" },
      event: { event: "message.received" },
      refusal:
        "WebhookVerificationError: The signature does not match: check the webhook's secret, and pass the body as the raw bytes that arrived.",
    });
    expect(sent).toEqual({
      "POST /api/v1/instances/7/send-text wg_x": '{"number":"5511988887777","text":"Olá"}',
    });
  });
});
