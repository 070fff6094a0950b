import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GUIDE } from "../src/features/public-pages/guide-pages.ts";
import { webhooksContract } from "../src/features/webhooks/contract.ts";
import { freePortsFor } from "../src/platform/embedded-postgres/free-ports-for.ts";
import { type DocumentBlock, readBlocks, shapeDifferences, toShownResponse } from "./document-blocks.ts";
import { OWNER, startTestGateway, type TestGateway } from "./gateway.ts";
import { makeScratchDir } from "./scratch-dir.ts";
import { ROOT } from "./source-files.ts";

/** `UPDATE_GUIDES=1 npx vitest run test/guides.test.ts` writes the responses that the documents show. */
const isUpdate = process.env.UPDATE_GUIDES === "1";

const DOCUMENTS = GUIDE.filter(({ group }) => group !== "Contributing").map(({ file }) => `docs/${file}`);
const BLOCKS = ["README.md", ...DOCUMENTS].flatMap(readBlocks);
const PAGES = DOCUMENTS.map((path) => ({
  path,
  blocks: BLOCKS.filter((block) => block.path === path),
})).filter(({ blocks }) => blocks.some(({ isCall }) => isCall));

/** Commands and JSON that no test of this file runs or compares, by their beginning, with the reason. */
const NOT_RUN_HERE: Readonly<Record<string, string>> = {
  "npm ci && npm start": "installs and starts the gateway: test/e2e/first-start.test.ts starts it",
  "npm run chaos": "takes 80 minutes: CONTRIBUTING.md says when to run it",
  "export WAYGATE_SECRET_KEY=... WAYGATE_BACKUP_KEY=...":
    "test/chaos/rows restores a backup by these commands",
  "docker build": "needs Docker",
  "POSTGRES_PASSWORD=...": "is the .env of compose: test/packaging.test.ts reads the compose file",
  "docker compose": "needs Docker: test/packaging.test.ts reads the compose file",
  "useradd --system": "needs root and systemd: test/packaging.test.ts reads the unit",
  "systemd-run": "needs root and systemd",
  "helm install": "needs a cluster: test/packaging.test.ts renders the chart's values",
  "WEBHOOK_SECRET=whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD PORT=8080":
    "runs until it is stopped: test/examples.test.ts runs it",
};

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

/** The output for a reader who pastes these lines, with the test's instance in place of the page's. */
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
  return new Promise<{ code: number; said: string; printed: string[] }>((resolve) => {
    execFile("bash", ["--norc", "-c", script], { cwd: folder.path, env }, (error, stdout, stderr) =>
      resolve({
        code: error === null ? 0 : Number(error.code),
        said: `${own}\n${stdout}${stderr}`,
        printed: stdout.split(BLOCK_END),
      }),
    );
  });
}

/** Printed after the commands of each block. */
const BLOCK_END = "\u001e";

/** The last line that is a JSON object. */
function lastResponse(printed: string): unknown {
  const line = printed.split("\n").findLast((one) => one.startsWith("{"));
  return line === undefined ? undefined : JSON.parse(line);
}

/** The differences between the JSON blocks and the responses to the requests above them. */
function compareResponses(
  path: string,
  blocks: readonly DocumentBlock[],
  printed: readonly string[],
): string[] {
  return blocks.flatMap(({ isResponse, text }, index) => {
    if (!isResponse) return [];
    const actual = lastResponse(printed[index - 1] ?? "");
    if (isUpdate && shapeDifferences(JSON.parse(text), actual).length > 0) {
      const file = join(ROOT, path);
      writeFileSync(
        file,
        readFileSync(file, "utf8").replace(text, () => toShownResponse(actual)),
      );
      return [];
    }
    return shapeDifferences(JSON.parse(text), actual);
  });
}

/** Runs the first block of the README that calls the gateway in a shell of its own, in the checkout. */
async function pasteFirstBlock(fill: (block: string) => string, until: RegExp): Promise<string> {
  const block = BLOCKS.find(({ path, isCall }) => path === "README.md" && isCall)?.text ?? "";
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
    // The receiver runs until the last delivery has arrived, however slow the machine is.
    if (until.test(printed)) shell.stdin.end("\n");
  });
  await once(shell, "close");
  return printed;
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!hasCurl)(
  hasCurl ? "the commands of" : "the commands of the guides: skipped, no curl",
  () => {
    test.each(PAGES)(
      "the commands of $path succeed, and return what the page shows",
      async ({ path, blocks }) => {
        const isPairing = blocks.some(({ isCall, text }) => isCall && text.includes("/sandbox/scan"));
        const instance = await (isPairing ? gateway.createInstance() : gateway.connectInstance());
        const lines = blocks.map(({ isCall, text }) => `${isCall ? text : ""}\nprintf '\\036'`);
        const { code, said, printed } = await paste(lines.join("\n"), instance);
        expect(code, said).toBe(0);
        expect(compareResponses(path, blocks, printed), said).toEqual([]);
      },
    );

    test("the first block of the README, pasted with a password filled in, ends with a webhook", async () => {
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

    test("the first block of the README reports a password that was not filled in", async () => {
      const stdout = await pasteFirstBlock((block) => block, /^Next: /m);
      expect(stdout).toContain("Not signed in, so nothing below works. Is PASSWORD right?");
      expect(stdout).toContain('"code":"INVALID_CREDENTIALS"');
    });
  },
);

test("the comparison of shapes names fields that are missing, added or of another type", () => {
  const shown = { id: 1, name: "a", list: [{ x: 1 }], gone: true };
  expect(shapeDifferences(shown, { id: "1", name: null, list: [{ x: "1" }], new: 1 })).toEqual([
    "$.id is number in the document, string in the response",
    "$.list[0].x is number in the document, string in the response",
    "$.gone is not in the response",
    "$.new is not in the document",
  ]);
});

test("every command of the documents is run here, or listed with the reason why not", () => {
  const commands = BLOCKS.filter(({ language, isCall }) => language === "sh" && !isCall);
  const beginnings = Object.keys(NOT_RUN_HERE);
  const unknown = commands.filter(({ text }) => !beginnings.some((one) => text.startsWith(one)));
  const unused = beginnings.filter((one) => !commands.some(({ text }) => text.startsWith(one)));
  expect([...unknown.map(({ path, text }) => `${path}: ${text}`), ...unused]).toEqual([]);
});

describe("JSON in the documents that no request above it returned", () => {
  const isEventPage = ({ path }: DocumentBlock) => /events\/[a-z]+\.[a-z_]+\.md$/.test(path);
  const shown = BLOCKS.filter(({ language, isResponse }) => language === "json" && !isResponse);

  test.each(shown.filter(isEventPage))("is the tested payload of $path", ({ path, text }) => {
    expect(text).toBe(readFileSync(join(ROOT, path.replace(/md$/, "json")), "utf8"));
  });

  test("has the fields of the description if it is the body of an error", async () => {
    const { text } = blockOf("docs/reference/errors.md");
    const id = (await gateway.connectInstance()).id;
    const response = await fetch(`${gateway.url}/api/v1/instances/${id}/send-text`, {
      method: "POST",
      body: '{"text":"Hello"}',
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    expect(shapeDifferences(JSON.parse(text), await response.json())).toEqual([]);
  });

  test("is accepted by the contract if it is a webhook body in another format", () => {
    const body = JSON.parse(blockOf("docs/start/migration.md").text);
    expect(webhooksContract.createWebhook.input.safeParse({ id: 1, ...body }).error).toBeUndefined();
  });

  test("names a script of the package and existing settings if it configures an assistant", () => {
    const { command, args, env } = JSON.parse(blockOf("docs/guides/assistant-tools.md").text).mcpServers
      .waygate;
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect([command, Object.keys(scripts)]).toEqual(["npm", expect.arrayContaining([args.at(-1)])]);
    const configuration = readFileSync(join(ROOT, "docs/reference/configuration.md"), "utf8");
    for (const name of Object.keys(env)) expect(configuration).toContain(`\`${name}\``);
  });

  test("does not exist elsewhere", () => {
    const known = ["docs/reference/errors.md", "docs/start/migration.md", "docs/guides/assistant-tools.md"];
    expect(
      shown
        .filter((block) => !isEventPage(block))
        .map(({ path }) => path)
        .sort(),
    ).toEqual(known.sort());
  });

  function blockOf(path: string): DocumentBlock {
    const found = shown.find((block) => block.path === path);
    if (!found) throw new Error(`${path} has no such block.`);
    return found;
  }
});

test("every promised part of the guide exists", () => {
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
