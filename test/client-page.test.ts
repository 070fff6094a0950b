import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildDist } from "./build-dist.ts";
import { readBlocks } from "./document-blocks.ts";
import { startTestGateway, type TestGateway } from "./gateway.ts";
import { ROOT } from "./source-files.ts";

const BLOCKS = readBlocks("docs/guides/client.md");
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

let gateway: TestGateway;

beforeAll(buildDist);
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

/** The program of the page that contains a text, and the output that the page shows below it. */
function exampleWith(text: string): { program: string; shown: string } {
  const at = BLOCKS.findIndex((block) => block.language === "js" && block.text.includes(text));
  const [program, output] = BLOCKS.slice(at, at + 2);
  return { program: program?.text ?? "", shown: output?.text ?? "" };
}

/** Runs a program with the client of this checkout; `test/packages.release.test.ts` runs the packed ones. */
async function run(program: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const own = program.replace(/"@waygate\/(client|webhooks)"/, '"waygate/client"');
  const args = ["--input-type=module", "--eval", own];
  return (await promisify(execFile)(process.execPath, args, { cwd: ROOT, env })).stdout;
}

test("the typed client's example sends a message and prints its id", async () => {
  const { id, api_key } = await gateway.connectInstance();
  const { program, shown } = exampleWith("sendText");
  const own = program.replace("http://127.0.0.1:3000", gateway.url).replace("id: 1,", `id: ${id},`);
  const id22 = /^[0-9A-F]{22}\n$/;
  expect(shown).toMatch(id22);
  expect(await run(own, { WAYGATE_API_KEY: api_key })).toMatch(id22);
});

test("the typed client's example verifies a webhook and prints its fields", async () => {
  const body = readFileSync(join(ROOT, "docs/reference/events/message.received.json"), "utf8");
  const sentAt = new Date();
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(sentAt.getTime() / 1000)),
    "webhook-signature": new Webhook(SECRET).sign("evt_1", sentAt, body),
  };
  const { program, shown } = exampleWith("verifyWebhook(");
  const received = { request: { headers }, rawBody: body, secret: SECRET };
  const own = `const { request, rawBody, secret } = ${JSON.stringify(received)};\n${program}`;
  expect(await run(own)).toBe(shown);
});
