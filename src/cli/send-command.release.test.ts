import { writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../test/gateway.ts";
import { buildDist } from "../../test/run/build-dist.ts";
import { runCli } from "../../test/run/cli-process.ts";
import { makeScratchDir, type ScratchDir } from "../../test/run/scratch-dir.ts";
import { blackPng } from "../../test/sample-files.ts";

const ANA = "5511977771234";
const NOBODY = "5511999990000";

let gateway: TestGateway;
let shop: TestInstance;
let scratch: ScratchDir;
let env: Record<string, string>;

beforeAll(buildDist);
beforeAll(async () => {
  [gateway, scratch] = await Promise.all([startTestGateway(), makeScratchDir()]);
  shop = await gateway.connectInstance();
  env = { WAYGATE_BASE_URL: gateway.url, WAYGATE_API_KEY: shop.api_key };
});
afterAll(async () => {
  await gateway.stop();
  await scratch.remove();
});

const send = (args: string[], more: Record<string, string> = {}, input?: string) =>
  runCli(["send", ...args], { ...env, ...more }, { input });

/** Sends to a server that is no gateway. */
async function sendTo(program: RequestListener) {
  const server = createServer(program);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const result = await send([ANA, "x"], { WAYGATE_BASE_URL: `http://127.0.0.1:${port}` });
  await new Promise((resolve) => server.close(resolve));
  return result;
}

/** Messages of the chat with Ana, newest first. */
const sent = async () => (await shop.client.listMessages({ id: shop.id, limit: 50 })).data;

describe("waygate send", () => {
  test("prints the id of a text that the network has acknowledged", async () => {
    const { code, stdout, stderr } = await send([ANA, "Hello from a shell"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [, messageId = ""] = /^sent (\w+) to 5511977771234@s\.whatsapp\.net\n$/.exec(stdout) ?? [];
    const { data } = await shop.client.getMessage({ id: shop.id, messageId });
    expect(data).toMatchObject({
      text: "Hello from a shell",
      status: expect.stringMatching(/sent|delivered|read/),
    });
  });

  test("reads the text from standard input, as it is but for the last line break", async () => {
    const { code } = await send([ANA, "-"], {}, "two\nlines  \n\n");
    expect(code).toBe(0);
    expect((await sent())[0]).toMatchObject({ text: "two\nlines  \n" });
  });

  test("refuses an input that is not text, too long, or empty", async () => {
    const long = await send([ANA, "-"], {}, "a".repeat(1024 * 1024 + 1));
    expect(long).toMatchObject({ code: 2, stderr: "The text on standard input is longer than 1 MiB.\n" });
    expect(await send([ANA, "-"], {}, "")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("text"),
    });
  });

  test("sends a file with its name, its kind and a caption", async () => {
    const path = join(scratch.path, "menu.png");
    await writeFile(path, blackPng(16));
    const { code, stderr } = await send([ANA, "Our menu", "--file", path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [message] = await sent();
    expect(message).toMatchObject({ type: "image", caption: "Our menu", media: { mime_type: "image/png" } });
  });

  test("queues a message with --async, and prints the whole response with --json", async () => {
    const { code, stdout } = await send([ANA, "Later", "--async", "--json"]);
    expect(code).toBe(0);
    const response = JSON.parse(stdout);
    expect(response).toMatchObject({ success: true, jobId: expect.any(String), data: { queued: true } });
    const messageId = response.data.pendingMessageId;
    await waitUntil(
      async () => (await shop.client.getMessage({ id: shop.id, messageId })).data.status !== "pending",
    );
    expect((await send([ANA, "Later still", "--async"])).stdout).toMatch(/^queued \w+ as job \w+\n$/);
  });

  test("does not send twice with the same idempotency key", async () => {
    const again = [ANA, "Once only", "--idempotency-key", "order-7"];
    const [first, second] = [await send(again), await send(again)];
    // The status may have changed meanwhile.
    const [id, sameId] = [first, second].map(({ stdout }) => stdout.split(" ")[1]);
    expect([first.code, second.code, sameId]).toEqual([0, 0, id]);
    expect((await sent()).filter(({ text }) => text === "Once only")).toHaveLength(1);
  });

  test("ends with 1 and says what to do if the gateway refuses", async () => {
    const wrong = await send([ANA, "x"], { WAYGATE_API_KEY: "wg_wrong" });
    expect(wrong).toMatchObject({ code: 1, stdout: "" });
    expect(wrong.stderr).toMatch(/^INVALID_API_KEY: .*\nGive the instance's current key with --key/);
    const nobody = await send([NOBODY, "x"]);
    expect(nobody).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^RECIPIENT_NOT_FOUND: .*\nCheck the number/),
    });
    const other = await send([ANA, "x", "--instance", "999999"]);
    expect(other).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^INSTANCE_FORBIDDEN: .*\nLeave --instance/),
    });
  });

  test("ends with 1 if the instance is not connected, unless it may wait", async () => {
    const { api_key } = await gateway.createInstance();
    const refused = await send([ANA, "x"], { WAYGATE_API_KEY: api_key });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("docs/guides/pairing.md") });
  });

  test("shows nothing of a hostile response that a terminal would interpret", async () => {
    const { code, stdout, stderr } = await sendTo((_, response) => {
      const message = "\u001b]0;owned\u0007\u009b2J";
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ success: false, code: message, message, details: { message } }));
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  test("does not call a message sent if another program responds", async () => {
    const { code, stdout, stderr } = await sendTo((_, response) => {
      response
        .writeHead(200, { "content-type": "application/json" })
        .end('{"success":true,"data":{"status":"sent"}}');
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("not that of a Waygate gateway");
  });

  test("says how to repeat a send whose response was lost", async () => {
    const lost = await sendTo((request) => request.socket.destroy());
    expect(lost.code).toBe(1);
    expect(lost.stderr).toMatch(/may have been sent\. Repeat it with --idempotency-key cli-[\w-]{36}: /);
    const away = await send([ANA, "x"], { WAYGATE_BASE_URL: "http://127.0.0.1:2" });
    expect(away.stderr).not.toContain("may have been sent");
  });
});
