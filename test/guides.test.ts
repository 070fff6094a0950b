import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GUIDE } from "../src/features/public-pages/guide-pages.ts";
import { freePortsFor } from "../src/platform/embedded-postgres/free-ports-for.ts";
import { OWNER, startTestGateway, type TestGateway } from "./gateway.ts";
import { makeScratchDir } from "./scratch-dir.ts";
import { ROOT } from "./source-files.ts";

const PAGES = GUIDE.map(({ file }) => `docs/${file}`)
  .map((path) => ({ path, blocks: shellBlocksWithCurl(path) }))
  .filter(({ blocks }) => blocks.length > 0);

function shellBlocksWithCurl(path: string): string[] {
  const text = readFileSync(join(ROOT, path), "utf8");
  return [...text.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, block = ""]) => block)
    .filter((block) => /^\s*(\w+=\$\()?curl /m.test(block));
}

let gateway: TestGateway;
let token = "";
let folder: Awaited<ReturnType<typeof makeScratchDir>>;

beforeAll(async () => {
  [gateway, folder] = await Promise.all([startTestGateway(), makeScratchDir()]);
  ({ token } = await gateway.anonymous.login(OWNER));
});
afterAll(async () => {
  await gateway.stop();
  await folder.remove();
});

/** What a reader who pastes these lines gets, with the own instance in the place of that of the page. */
function paste(lines: string, { id, api_key }: { id: number; api_key: string }) {
  const own = lines
    .replaceAll("localhost:3000", gateway.url)
    .replaceAll("/instances/1", `/instances/${id}`)
    .replaceAll('"instance_id":1', `"instance_id":${id}`)
    .replaceAll('{"email":"owner@localhost","password":"..."}', JSON.stringify(OWNER))
    .replaceAll("owner@localhost", OWNER.email)
    .replaceAll("PASSWORD='...'", `PASSWORD='${OWNER.password}'`);
  // curl takes only one of --fail and --fail-with-body.
  const curl =
    'curl() { case "$*" in *--fail*) command curl "$@";; *) command curl --fail-with-body "$@";; esac; }';
  const script = `set -eo pipefail\n${curl}\n${own}`;
  const env = { PATH: process.env.PATH, TOKEN: token, KEY: api_key };
  return new Promise<{ code: number; said: string }>((resolve) => {
    execFile("bash", ["--norc", "-c", script], { cwd: folder.path, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: `${own}\n${stdout}${stderr}` }),
    );
  });
}

/** Runs the first block of the README that calls the gateway in a shell of its own, in the checkout. */
async function pasteFirstBlock(fill: (block: string) => string, until: RegExp): Promise<string> {
  const [block = ""] = shellBlocksWithCurl("README.md");
  const { value: port } = await freePortsFor(`guides ${process.pid}`).next();
  const own = fill(block)
    .replaceAll("localhost:3000", new URL(gateway.url).host)
    .replaceAll("8080", String(port))
    .replaceAll("owner@localhost", OWNER.email);
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const shell = spawn("sh", ["-c", `${own}\nread -r _\nkill $RECEIVER`], { cwd: ROOT, env });
  let printed = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    // The receiver goes on for as long as something is to come, however slow the machine is.
    if (until.test(printed)) shell.stdin.end("\n");
  });
  await once(shell, "close");
  return printed;
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!hasCurl)(
  hasCurl ? "the commands of" : "the commands of the guides: skipped, no curl",
  () => {
    test.each(PAGES)("$path do what they say", async ({ blocks }) => {
      const isPairing = blocks.some((block) => block.includes("/sandbox/scan"));
      const instance = await (isPairing ? gateway.createInstance() : gateway.connectInstance());
      const { code, said } = await paste(blocks.join("\n"), instance);
      expect(code, said).toBe(0);
    });

    test("the first block of the README, pasted as it stands with the password filled in, ends with a webhook", async () => {
      const stdout = await pasteFirstBlock(
        (block) => block.replace("PASSWORD='...'", `PASSWORD='${OWNER.password}'`),
        /message\.received echo: Hello\n[\s\S]*^Next: |^Next: [\s\S]*message\.received echo: Hello\n/m,
      );
      const lines = stdout.split("\n");
      expect(lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))).toMatchObject([
        { success: true, data: { url: expect.stringContaining("localhost") } },
        { success: true, data: { phone: expect.any(String) } },
        { success: true, data: { message_id: expect.any(String) } },
      ]);
      expect(stdout).toMatch(/^\d+ message\.received echo: Hello$/m);
      expect(stdout).toMatch(/^Next: docs\/start\/quick-start\.md.* Instance \d+ has the key wg_/m);
    });

    test("the first block of the README says so where the password was not filled in", async () => {
      const stdout = await pasteFirstBlock((block) => block, /^Next: /m);
      expect(stdout).toContain("Not signed in, so nothing below works. Is PASSWORD right?");
      expect(stdout).toContain('"code":"INVALID_CREDENTIALS"');
    });
  },
);

test("every part of the guide that readers were promised is there", () => {
  const slugs: string[] = GUIDE.map(({ slug }) => slug);
  expect(slugs).toEqual(
    expect.arrayContaining([
      "quick-start",
      "pairing",
      "sending",
      "webhooks",
      "verifying-webhooks",
      "asynchronous-sends",
      "campaigns",
      "integrations",
      "scaling",
      "migration",
    ]),
  );
});
