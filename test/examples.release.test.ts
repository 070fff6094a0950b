import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newPhone, startTestGateway, type TestGateway, type TestInstance, waitUntil } from "./gateway.ts";
import { buildDist } from "./run/build-dist.ts";
import { makeScratchDir } from "./run/scratch-dir.ts";
import { OWNER } from "./sign-in.ts";
import { ROOT } from "./source-files.ts";

const EXAMPLES = join(ROOT, "examples");
const SIGN_IN = { WAYGATE_EMAIL: OWNER.email, WAYGATE_PASSWORD: OWNER.password };

let gateway: TestGateway;
let shop: TestInstance;
let env: Record<string, string>;
let scratch: Awaited<ReturnType<typeof makeScratchDir>>;
const running: ChildProcess[] = [];

// The examples import the package's client.
beforeAll(buildDist);
beforeAll(async () => {
  [gateway, scratch] = await Promise.all([startTestGateway(), makeScratchDir()]);
  shop = await gateway.connectInstance();
  env = {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    WAYGATE_BASE_URL: gateway.url,
    WAYGATE_API_KEY: shop.api_key,
    WAYGATE_INSTANCE_ID: String(shop.id),
  };
});

afterAll(async () => {
  for (const child of running) child.kill();
  await gateway.stop();
  await scratch.remove();
});

function run(args: string[], more: Record<string, string> = {}): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: EXAMPLES, env: { ...env, ...more } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });
}

/** Starts a listening example and points a new webhook of the instance to it. */
async function listen(command: string, args: string[]) {
  const created = await shop.client.createWebhook({ id: shop.id, url: "http://127.0.0.1:1/" });
  const { id: webhookId, secret = "" } = created.data;
  const child = spawn(command, args, {
    cwd: EXAMPLES,
    env: { ...env, WEBHOOK_SECRET: secret, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(child);
  let said = "";
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  }
  const url = () => said.match(/(?:^listening on |Server \()(http:[^\s)]+)/m)?.[1];
  await waitUntil(() => url() ?? child.exitCode !== null);
  await shop.client.updateWebhook({ id: shop.id, webhookId, url: url() ?? "" });
  const stop = async () => {
    await shop.client.deleteWebhook({ id: shop.id, webhookId });
    child.kill();
    await once(child, "close");
  };
  return { url: url() ?? "", said: () => said, stop };
}

/** Sends hostile requests. The program must survive them to accept the real delivery. */
async function offend(url: string): Promise<void> {
  const now = String(Math.floor(Date.now() / 1000));
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  const hostile = [
    ["evt_1", now, `v1,${"\u00e9".repeat(44)}`],
    ["evt_1", "\u00b2", "v1,AAAA"],
    ["evt_1", "9".repeat(5000), "v1,AAAA"],
    ["\u00e9", now, " ".repeat(5000)],
    ["evt_1", now, "v1,A".repeat(1000)],
    [],
  ];
  for (const values of hostile) {
    const headers = values.map((value, at) => `${names[at]}: ${value}\r\n`).join("");
    const response = await sendRaw(url, `${headers}Content-Length: 2\r\n\r\n{}`);
    expect(response).toMatch(/^HTTP\/1\.[01] 4\d\d /);
  }
  // The body is cut off.
  await sendRaw(url, "Content-Length: 100\r\n\r\n{}\n", { isCutOff: true });
  await sendRaw(url, "Content-Length: -5\r\n\r\n{}");
}

/** Sends a raw Latin-1 request and reads the complete response. */
function sendRaw(url: string, rest: string, { isCutOff = false } = {}): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let response = "";
    socket.setEncoding("latin1").on("data", (text: string) => {
      response += text;
    });
    socket.on("error", () => {}).on("close", () => resolve(response));
    const request = `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${rest}`;
    socket.write(request, "latin1", () => isCutOff && socket.resetAndDestroy());
  });
}

const write = (from: string, text: string) => shop.client.sandboxReceive({ id: shop.id, from, text });

describe("send-text.mjs", () => {
  test("prints the result of the message, or the reason of its failure", async () => {
    const sent = await run(["send-text.mjs", newPhone(), "Hello"]);
    expect(sent).toEqual({ code: 0, said: expect.stringMatching(/^sent: \w+ to \d+@s\.whatsapp\.net\n$/) });
    const refused = await run(["send-text.mjs", "5511999990000", "Hello"]);
    expect(refused).toEqual({ code: 1, said: expect.stringMatching(/^RECIPIENT_NOT_FOUND: .+\(req_/) });
    expect((await run(["send-text.mjs"])).code).toBe(2);
  });
});

describe("receive-webhooks.mjs", () => {
  test("accepts the deliveries of the gateway and refuses other requests", async () => {
    const receiver = await listen(process.execPath, ["receive-webhooks.mjs"]);
    await offend(receiver.url);
    const text = "Olá 👋";
    await write("5511988887777", text);
    await waitUntil(() => receiver.said().includes(`message.received ${text}`));
    const forged = await fetch(receiver.url, {
      method: "POST",
      body: "{}",
      headers: {
        "webhook-id": "evt_1",
        "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
        "webhook-signature": "v1,AAAA",
      },
    });
    expect(forged.status).toBe(401);
    await receiver.stop();
  });
});

describe("echo-bot.mjs", () => {
  test("replies to a text with the same text, quoting it", async () => {
    const bot = await listen(process.execPath, ["echo-bot.mjs"]);
    await offend(bot.url);
    const phone = newPhone();
    await write(phone, "Anybody there?");
    const messages = async () =>
      (await shop.client.listMessages({ id: shop.id })).data.filter((one) => one.phone === phone);
    await waitUntil(async () => (await messages()).length === 2);
    expect((await messages())[0]).toMatchObject({
      from_me: true,
      text: "Anybody there?",
      quoted: { text: "Anybody there?" },
    });
    await bot.stop();
  });
});

describe("campaign-from-csv.mjs", () => {
  test("prints a campaign, and sends it only when the option is set", async () => {
    const file = join(scratch.path, "people.csv");
    const [ana, leo] = [newPhone(), newPhone()];
    await writeFile(file, `phone,name\n${ana},Ana\n${leo},Leo\n${ana},Ana\nnobody,Nobody\n`);
    const quick = { ...SIGN_IN, MIN_DELAY_MS: "0", MAX_DELAY_MS: "0" };
    const shown = await run(["campaign-from-csv.mjs", file, "Hello {{name}}"], quick);
    expect(shown.said).toMatch(/2 added, 1 twice in the file, 1 not readable\n {2}nobody,Nobody: /);
    expect(shown.said).toContain(`${ana} would read: Hello Ana`);
    expect(shown.said).toContain("not started");
    const sent = await run(["campaign-from-csv.mjs", file, "Hello {{name}}", "--start"], quick);
    expect(sent.said).toContain("completed: 2 of 2 sent, 0 failed, 0 left out");
    const { data } = await shop.client.listChatMessages({ id: shop.id, jid: leo });
    expect(data.map(({ text }) => text)).toEqual(["Hello Leo"]);
  });
});
