import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBlocks } from "../../../test/documents/document-blocks.ts";
import { createGate } from "../../../test/gate.ts";
import { startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { buildDist } from "../../../test/run/build-dist.ts";
import { runCli, startCli } from "../../../test/run/cli-process.ts";
import { makeScratchDir, type ScratchDir } from "../../../test/run/scratch-dir.ts";
import { startReceiver } from "../../../test/servers/receiver.ts";
import { OWNER, signIn } from "../../../test/sign-in.ts";
import { ROOT } from "../../../test/source-files.ts";
import { createClient } from "../../client/client.ts";

let gateway: TestGateway;
let scratch: ScratchDir;

beforeAll(buildDist);
beforeAll(async () => {
  [gateway, scratch] = await Promise.all([
    startTestGateway({ WAYGATE_ALLOWED_HOSTS: "external,loopback" }),
    makeScratchDir(),
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await scratch.remove();
});

const instances = async () => (await gateway.owner.listInstances({})).data;
const signedIn = () => ({
  WAYGATE_BASE_URL: gateway.url,
  WAYGATE_EMAIL: OWNER.email,
  WAYGATE_PASSWORD: OWNER.password,
});

/** The start of the lines of each step. */
const STEPS = [
  /^1\. Sign in\n {3}(POST|GET) /m,
  /^2\. Create an instance .*\n {3}POST \/api\/v1\/instances: instance \d+/m,
  /^3\. Create a webhook .*\n {3}POST .*A test event has arrived\.$/m,
  /^4\. Pair it\n {3}POST .*Connected as \+\d+\.$/m,
  /^5\. Send a message\n {3}POST .*: sent after \d+ ms/m,
  /^6\. Receive its events.*\n(.*\n)*? {3}\d\d:\d\d:\d\d {2}message\.sent .*"Hello from waygate try"$/m,
  /^ {3}\d\d:\d\d:\d\d {2}message\.received .*from 5511999990004 "echo: Hello from waygate try"$/m,
  /^It works\. Next:$/m,
];

describe("waygate try at a gateway that runs", () => {
  test("shows every step, says what to do next, and removes what it made", async () => {
    const { code, stdout, stderr } = await runCli(["try"], signedIn());
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const step of STEPS) expect(stdout).toMatch(step);
    expect(stdout).toContain(`curl -s ${gateway.url}/api/v1/instances/$ID/send-text -H "x-api-key: $KEY"`);
    expect(stdout).toMatch(/Removed instance \d+ with its key, webhook and messages\.\n$/);
    expect(stdout).not.toContain(OWNER.password);
    expect(await instances()).toEqual([]);
  });

  test("with a token and --keep leaves an instance that the shown commands use", async () => {
    const { token } = await signIn(gateway.url);
    const { code, stdout } = await runCli(["try", "--keep"], {
      WAYGATE_BASE_URL: gateway.url,
      WAYGATE_TOKEN: token,
    });
    expect(code).toBe(0);
    const [kept] = await instances();
    const [, key = ""] = /WAYGATE_API_KEY=(wg_\S+)/.exec(stdout) ?? [];
    const client = createClient({ baseUrl: gateway.url, apiKey: key });
    expect((await client.listWebhooks({ id: kept?.id ?? 0 })).data).toEqual([]);
    const [, line = ""] = /^ {4}(WAYGATE_API_KEY=\S+ node bin\/waygate\.mjs send .*)$/m.exec(stdout) ?? [];
    const waygate = `node() { shift; "${process.execPath}" "${ROOT}/dist/program/main.js" "$@"; }`;
    const [, curl = ""] = /^ {4}(curl [\s\S]*?'\{.*\}')$/m.exec(stdout) ?? [];
    const shell = spawn("bash", ["--norc", "-c", `${waygate}\n${line}\n${curl}`], {
      env: { PATH: process.env.PATH },
    });
    let said = "";
    shell.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    await once(shell, "close");
    expect(said).toMatch(/^sent \w+ to 5511999990004@s\.whatsapp\.net\n\{"success":true,/);
    await gateway.owner.deleteInstance({ id: kept?.id ?? 0 });
  });

  test("reports a wrong password and a gateway that is not there, and makes nothing", async () => {
    const wrong = await runCli(["try"], { ...signedIn(), WAYGATE_PASSWORD: "wrong horse battery staple" });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/^INVALID_CREDENTIALS: /) });
    expect(wrong.stderr).toContain("Check --email and --password");
    expect(await instances()).toEqual([]);
  });

  test("removes the instance when the gateway cannot reach the receiver", async () => {
    const { code, stderr } = await runCli(["try", "--public-url", "http://10.1.2.3:8080/"], signedIn());
    expect(code).toBe(1);
    expect(stderr).toContain("WAYGATE_ALLOWED_HOSTS=external,10.1.2.3:8080");
    expect(await instances()).toEqual([]);
  });

  test("removes the instance when it is interrupted", async () => {
    const [receiver, gate] = [await startReceiver(), createGate()];
    // Until then the gateway waits for the response to its test event.
    receiver.respond(async (_, response) => {
      await gate.opened;
      response.writeHead(200).end();
    });
    const started = startCli(["try", "--public-url", receiver.url], signedIn());
    await waitUntil(() => receiver.received.length > 0);
    started.child.kill("SIGINT");
    expect(await started.exited).toMatchObject({ code: 1 });
    gate.open();
    expect(started.stderr()).toContain("Interrupted. What was made is removed.");
    expect(await instances()).toEqual([]);
    await receiver.close();
  });
});

describe("waygate try from nothing", () => {
  /** Uses only temporary data. */
  const alone = () => ({
    TMPDIR: scratch.path,
    DATABASE_URL: "postgres://127.0.0.1:1/never",
    WAYGATE_PORT: "never",
  });

  test("is the first block of the README: it starts a gateway, and leaves nothing behind", async () => {
    const [first] = readBlocks("README.md");
    expect(first?.text).toBe("npm ci && npm run try\n");
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, ...alone() };
    const child = spawn("npm", ["run", "--silent", "try"], {
      cwd: ROOT,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    expect((await once(child, "close"))[0]).toBe(0);
    for (const step of STEPS) expect(said).toMatch(step);
    expect(said).toMatch(
      /^7\. Queue texts.*\n {3}20 texts were accepted .* After the restart each has one outcome\.$/m,
    );
    expect(said).toContain("    node bin/waygate.mjs serve\n");
    expect(said).toContain("The gateway is stopped, and its data are deleted.");
    expect(readdirSync(scratch.path).filter((name) => name.startsWith("waygate"))).toEqual([]);
  });

  test("with --keep shows further events until Ctrl-C, and keeps the data", async () => {
    const started = startCli(["try", "--keep"], alone());
    await started.waitFor(/until Ctrl-C\.$/m);
    const [, key = ""] = /WAYGATE_API_KEY=(wg_\S+)/.exec(started.stdout()) ?? [];
    const [, url = ""] = /^It listens on (http:\S+)\.$/m.exec(started.stdout()) ?? [];
    const sent = await runCli(["send", "5511999990004", "Once more"], {
      WAYGATE_BASE_URL: url,
      WAYGATE_API_KEY: key,
    });
    expect(sent.code).toBe(0);
    await started.waitFor(/message\.received .*"echo: Once more"/);
    const [, email = "", password = ""] =
      /Sign in at \S+: (\S+), password (\S+)$/m.exec(started.stdout()) ?? [];
    expect((await createClient({ baseUrl: url }).login({ email, password })).data.user.email).toBe(email);
    started.child.kill("SIGINT");
    expect(await started.exited).toMatchObject({ code: 0 });
    const [, data = ""] = /WAYGATE_DATA_DIR=(\S+) node bin\/waygate\.mjs serve/.exec(started.stdout()) ?? [];
    expect(data.startsWith(scratch.path)).toBe(true);
    expect(existsSync(data)).toBe(true);
  });
});
