import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client as McpClient } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import { GUIDE } from "../src/extensions/public-pages/guide-pages.ts";
import { freePortsFor } from "../src/platform/embedded-postgres/free-ports-for.ts";
import { createEmptyDatabase } from "./database.ts";
import {
  type DocumentBlock,
  type Example,
  type Printed,
  readBlocks,
  readExamples,
  readPrinted,
  responseDifferences,
  shapeDifferences,
  toShownResponse,
} from "./documents/document-blocks.ts";
import { ADMIN_TOKEN, startTestGateway, type TestGateway, type TestInstance, waitUntil } from "./gateway.ts";
import { buildDist } from "./run/build-dist.ts";
import { needs } from "./run/programs.ts";
import { makeScratchDir } from "./run/scratch-dir.ts";
import { type FakeChatwoot, startFakeChatwoot } from "./servers/fake-chatwoot.ts";
import { startN8n } from "./servers/n8n-server.ts";
import { startReceiver } from "./servers/receiver.ts";
import { ask, bubble, startTypebot } from "./servers/typebot-server.ts";
import { OWNER, signIn } from "./sign-in.ts";
import { ROOT } from "./source-files.ts";

/** A shell that runs the documents' commands, with the services that they call. */
interface GuideShell {
  readonly gateway: TestGateway;
  /** Gateway settings for commands beside it. */
  readonly settings: Readonly<Record<string, string>>;
  /** An owner's token. */
  readonly token: string;
  /** Runs commands in one shell, with the test's addresses instead of the page's. */
  run(commands: readonly string[], instance: TestInstance): Promise<Run>;
  /** Replaces the test's addresses and ids in an output with those of the page. */
  toPage(output: string, instance: TestInstance): string;
  stop(): Promise<void>;
}

interface Run {
  code: number;
  /** The script with its output. */
  transcript: string;
  /** Output of each command. */
  outputs: string[];
}

/** A name that does not resolve. */
const PUBLIC_URL = "https://waygate.invalid";

/** Printed after each command. */
const END = "\u001e";

/**
 * Reports a refusal by the exit code, unless the command shows the status line: curl allows one of the two. A command
 * with a time limit follows an endless stream, and 28 means that the limit was reached.
 */
const CURL = `curl() { case " $* " in
  *--fail*|*" -i "*) command curl "$@";;
  *" --max-time "*) command curl --fail-with-body "$@" || [ $? = 28 ];;
  *) command curl --fail-with-body "$@";;
esac; }`;

async function startGuideShell(): Promise<GuideShell> {
  const folder = await makeScratchDir();
  const settings = {
    // A public URL: Chatwoot calls no private address, and the gateway warns of one.
    WAYGATE_BASE_URL: PUBLIC_URL,
    WAYGATE_SECRET_KEY: randomBytes(32).toString("base64"),
    WAYGATE_BACKUP_KEY: randomBytes(32).toString("base64"),
    WAYGATE_BACKUP_DIR: folder.path,
  };
  const [gateway, receiver, chatwoot, typebot, n8n] = await Promise.all([
    startTestGateway(settings),
    startReceiver(),
    startFakeChatwoot(),
    startTypebot(),
    startN8n(),
  ]);
  typebot.publish("my-shop-x1y2z3", [bubble("b1", "Hello! What is your name?"), ask("i1")]);
  n8n.activate("waygate", { respond: "responseNode", output: { output: "You wrote: Are you open?" } });
  const { token } = await signIn(gateway.url);
  const addresses = Object.entries({
    "http://localhost:3000": gateway.url,
    "http://localhost:8080": receiver.url.replace(/\/$/, ""),
    "https://n8n.example.com": n8n.url,
    "https://bot.example.com": typebot.url,
    "https://chat.example.com": chatwoot.url,
    "owner@localhost": OWNER.email,
  });

  return {
    gateway,
    settings,
    token,
    run: (commands, instance) => {
      const lines = commands.map((command) => `${command}\nprintf '${END}'`).join("\n");
      const script = addresses
        .reduce((text, [shown, real]) => text.replaceAll(shown, real), withSecrets(lines, chatwoot))
        .replaceAll("localhost:3000", gateway.url)
        .replaceAll("/instances/1", `/instances/${instance.id}`)
        .replaceAll('"instance_id":1', `"instance_id":${instance.id}`);
      const env = { PATH: process.env.PATH, TOKEN: token, KEY: instance.api_key, ADMIN_TOKEN };
      return runScript(`set -eo pipefail\n${CURL}\n${script}`, folder.path, env);
    },
    toPage: (output, { id, phone }) =>
      addresses
        .reduce((text, [shown, real]) => text.replaceAll(real, shown), output)
        .replaceAll(PUBLIC_URL, "http://localhost:3000")
        .replaceAll(`inst_${id}"`, 'inst_1"')
        .replaceAll(`/instances/${id}/`, "/instances/1/")
        .replaceAll(`"instance_id":${id},`, '"instance_id":1,')
        .replaceAll(`"id":${id},"name":"Sales"`, '"id":1,"name":"Sales"')
        .replaceAll(phone || /(?!)/g, "5511999990077"),
    async stop() {
      await gateway.stop();
      await Promise.all([folder.remove(), receiver.close(), chatwoot.stop(), typebot.shut(), n8n.shut()]);
    },
  };
}

function withSecrets(commands: string, chatwoot: FakeChatwoot): string {
  return commands
    .replaceAll('"access_token":"..."', `"access_token":"${chatwoot.token}"`)
    .replaceAll('"password":"..."', `"password":"${OWNER.password}"`)
    .replaceAll("PASSWORD='...'", `PASSWORD='${OWNER.password}'`);
}

function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Run> {
  return new Promise((resolve) => {
    execFile("bash", ["--norc", "-c", script], { cwd, env }, (error, stdout, stderr) =>
      resolve({
        code: error === null ? 0 : Number(error.code),
        transcript: `${script}\n${stdout}${stderr}`,
        outputs: stdout.split(END),
      }),
    );
  });
}

/** `UPDATE_GUIDES=1 npx vitest run test/guides.release.test.ts` rewrites the responses in the documents. */
const isUpdate = process.env.UPDATE_GUIDES === "1";

const DOCUMENTS = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs/README.md",
  ...GUIDE.filter(({ event }) => event === undefined).map(({ file }) => `docs/${file}`),
  "examples/README.md",
  "test/README.md",
];
const BLOCKS = DOCUMENTS.flatMap(readBlocks);
/** Two other tests run the README's first block. */
const PAGES = DOCUMENTS.filter((path) => path !== "README.md")
  .map((path) => ({ path, blocks: BLOCKS.filter((block) => block.path === path) }))
  .filter(({ blocks }) => blocks.some(({ isCall }) => isCall));

const TOOLS_PAGE = "docs/guides/assistant-tools.md";

/** Start of the commands that restore a backup. */
const RESTORE = "export WAYGATE_SECRET_KEY=... WAYGATE_BACKUP_KEY=...";

/** Commands and JSON, by their start, that this file neither runs nor compares, with the reason. */
const NOT_RUN_HERE: Readonly<Record<string, string>> = {
  "npm ci && npm run try":
    "installs and starts a gateway: src/cli/try/try-command.release.test.ts runs the command",
  "WAYGATE_API_KEY=wg_... node bin/waygate.mjs listen":
    "runs until it is stopped: src/cli/listen/listen-command.release.test.ts runs it",
  "npm ci && npm start": "installs and starts the gateway: test/e2e/first-start.gate.test.ts starts it",
  "npm install --global":
    "installs the gateway for the whole machine: test/packages.release.test.ts does it in a folder",
  "npm run chaos": "takes 80 minutes: CONTRIBUTING.md says when to run it",
  "(cd /tmp && npm pack baileys":
    "downloads a package: test/watch-upstream.release.test.ts compares the installed one with the recorded state",
  [RESTORE]: "needs a second database: a test of its own runs it",
  "npm install @opentelemetry/api":
    "installs packages of another program: test/tracing.isolated.test.ts compares them with those of the tests",
  "export WAYGATE_TRACING=continue":
    "runs until it is stopped: test/e2e/tracing.release.test.ts loads the example",
  "waygate openapi --output openapi.json":
    "downloads a package: test/clients/generated-clients.release.test.ts writes these types",
  "cosign verify": "needs a published image",
  "docker build": "needs Docker",
  "POSTGRES_PASSWORD=...": "is a file: test/compose.test.ts reads docker-compose.yml",
  "docker compose": "needs Docker: test/compose.test.ts reads docker-compose.yml",
  "useradd --system": "needs root and systemd",
  "systemd-run": "needs root and systemd",
  "helm install": "needs a cluster: test/helm-chart.release.test.ts renders the chart",
  "WEBHOOK_SECRET=whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD PORT=8080":
    "runs until it is stopped: test/examples.release.test.ts runs it",
};

let shell: GuideShell;

beforeAll(buildDist);
beforeAll(async () => {
  shell = await startGuideShell();
});
afterAll(() => shell.stop());

/** Differences between documented responses and the commands' output. */
function compareResponses(examples: readonly Example[], outputs: readonly string[]): string[] {
  return examples.flatMap(({ call, responses }, index) => {
    const printed = readPrinted(outputs[index] ?? "");
    const count = `the page shows ${responses.length} of ${printed.length} responses to ${call.text}`;
    const differences = responses.flatMap((shown, at) => responseDifferences(shown, printed[at]));
    return responses.length === printed.length ? differences : [count, ...differences];
  });
}

/** Writes missing and different responses below their commands. */
function writeResponses(path: string, examples: readonly Example[], printed: readonly Printed[][]): void {
  const file = join(ROOT, path);
  let document = readFileSync(file, "utf8");
  for (const [index, { call, responses }] of [...examples.entries()].reverse()) {
    const actual = printed[index] ?? [];
    const indent = /^ */.exec(document.slice(call.start))?.[0] ?? "";
    const render = (one: Printed) =>
      `\`\`\`${one.language}\n${toShownResponse(one)}\`\`\``.replaceAll(/^/gm, indent);
    const missing = actual.slice(responses.length).map((one) => `\n\n${render(one)}`);
    const { end } = responses.at(-1) ?? call;
    document = document.slice(0, end) + missing.join("") + document.slice(end);
    for (const [at, shown] of [...responses.entries()].reverse()) {
      const one = actual[at];
      if (one && responseDifferences(shown, one).length > 0)
        document = document.slice(0, shown.start) + render(one) + document.slice(shown.end);
    }
  }
  writeFileSync(file, document);
}

/** Runs the README's first block that calls the gateway, in its own shell in the repository. */
async function pasteFirstBlock(fill: (block: string) => string, until: RegExp): Promise<string> {
  const block = BLOCKS.find(({ path, isCall }) => path === "README.md" && isCall)?.text ?? "";
  const { value: port } = await freePortsFor(`guides ${process.pid}`).next();
  const own = fill(block)
    .replaceAll("localhost:3000", new URL(shell.gateway.url).host)
    .replaceAll("8080", String(port))
    .replaceAll("owner@localhost", OWNER.email);
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const reader = spawn("sh", ["-c", `${own}\nread -r _\nkill $RECEIVER`], { cwd: ROOT, env });
  let printed = "";
  reader.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    // The receiver runs until the last delivery arrives.
    if (until.test(printed)) reader.stdin.end("\n");
  });
  await once(reader, "close");
  return printed;
}

/** The lines below the README's first block, for any id, key and address. */
function shownOutput(): RegExp[] {
  const at = BLOCKS.findIndex(({ path, isCall }) => path === "README.md" && isCall);
  const lines = BLOCKS[at + 1]?.text.trim().split("\n") ?? [];
  return lines.map((line) => {
    const pattern = line
      .replace(/[.?]/g, "\\$&")
      .replace(/wg_[.\\]+/, "wg_\\S+")
      .replace("localhost:3000", "\\S+")
      .replace(/\b1\b/, "\\d+");
    return new RegExp(`^${pattern}$`, "m");
  });
}

describe("the commands of", needs("curl"), () => {
  test.each(PAGES)(
    "the commands of $path succeed, and the page shows every response",
    async ({ path, blocks }) => {
      const examples = readExamples(blocks);
      const calls = examples.map(({ call }) => call.text);
      const isPairing = calls.some((text) => text.includes("/instances/1/sandbox/scan"));
      const { gateway } = shell;
      const instance = await (isPairing ? gateway.createInstance() : gateway.connectInstance());
      const { code, transcript, outputs } = await shell.run(calls, instance);
      expect(code, transcript).toBe(0);
      if (isUpdate) {
        const shown = outputs.map((output) => readPrinted(shell.toPage(output, instance)));
        writeResponses(path, examples, shown);
      } else expect(compareResponses(examples, outputs), transcript).toEqual([]);
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
    for (const line of shownOutput()) expect(stdout).toMatch(line);
  });

  test("the first block of the README stops at a password that was not filled in, and says so", async () => {
    const stdout = await pasteFirstBlock((block) => block, /^Not signed in/m);
    expect(stdout).toContain("Not signed in, so the commands below did not run. Is PASSWORD right?");
    expect(stdout).toContain('"code":"INVALID_CREDENTIALS"');
    expect(stdout).not.toMatch(/AUTH_REQUIRED|Next: /);
  });
});

test("the commands that restore a backup bring its rows into an empty database", async () => {
  const { gateway, settings } = shell;
  const { id } = (await gateway.admin.createBackup({})).data;
  const findBackup = async () =>
    (await gateway.admin.listBackups({})).data.find((backup) => backup.id === id && backup.verified_at);
  await waitUntil(findBackup);
  const backup = await findBackup();
  const store = await createEmptyDatabase();
  const block = BLOCKS.find(({ text }) => text.startsWith(RESTORE))?.text ?? "";
  const commands = block
    .replace("SECRET_KEY=...", `SECRET_KEY=${settings.WAYGATE_SECRET_KEY}`)
    .replace("BACKUP_KEY=...", `BACKUP_KEY=${settings.WAYGATE_BACKUP_KEY}`)
    .replace(/postgres:\S+/, store.url)
    .replace(/\S+\.backup/, join(settings.WAYGATE_BACKUP_DIR ?? "", backup?.file ?? ""));
  const waygate = `waygate() { "${process.execPath}" "${join(ROOT, "bin/waygate.mjs")}" "$@"; }`;
  await promisify(execFile)("bash", ["--norc", "-ec", `${waygate}\n${commands}`], {
    env: { PATH: process.env.PATH },
  });
  const { rows } = await store.database.pool.query("select count(*)::int as accounts from account");
  await store.drop();
  expect(rows).toEqual([{ accounts: backup?.rows.account }]);
});

test("the comparison of shapes names fields that are missing, added or of another type", () => {
  const shown = { id: 1, name: "a", list: [{ x: 1 }], gone: true };
  expect(shapeDifferences(shown, { id: "1", name: null, list: [{ x: "1" }], new: 1 })).toEqual([
    "$.id is number in the document, string in the response",
    "$.list[0].x is number in the document, string in the response",
    "$.gone is not in the response",
    "$.new is not in the document",
  ]);
});

test("an output is read as its responses: lines of JSON, responses with a status line, and CSV", () => {
  const output = 'HTTP/1.1 200 OK\r\nRetry-After: 1\r\n\r\n{"a":1}\n{"b":2}\nphone,status\n1,sent\n';
  expect(readPrinted(output)).toEqual([
    { language: "http", text: 'HTTP/1.1 200 OK\nRetry-After: 1\n\n{"a":1}' },
    { language: "json", text: '{"b":2}' },
    { language: "csv", text: "phone,status\n1,sent" },
  ]);
});

test("the comparison of responses names another status, a missing header, other columns, and no response", () => {
  const differences = (language: string, shown: string, actual?: string) =>
    responseDifferences(
      { language, text: `${shown}\n` } as DocumentBlock,
      actual === undefined ? undefined : { language, text: actual },
    );
  expect(differences("http", "HTTP/1.1 200 OK\nretry-after: 1\n\n{}", "HTTP/1.1 429 No\n\n{}")).toEqual([
    "the status is HTTP/1.1 429 No, not HTTP/1.1 200 OK",
    "the header retry-after is missing",
  ]);
  expect(differences("csv", "phone,status\n1,sent", "phone\n1")).toEqual([
    "the columns are phone, the document shows phone,status",
  ]);
  expect(differences("json", "{}")).toEqual(["no response, the document shows {}\n"]);
});

test("every command of the documents is run here, or listed with the reason why not", () => {
  const commands = BLOCKS.filter(({ language, isCall }) => language === "sh" && !isCall);
  const beginnings = Object.keys(NOT_RUN_HERE);
  const unknown = commands.filter(({ text }) => !beginnings.some((one) => text.startsWith(one)));
  const unused = beginnings.filter((one) => !commands.some(({ text }) => text.startsWith(one)));
  expect([...unknown.map(({ path, text }) => `${path}: ${text}`), ...unused]).toEqual([]);
});

test("every npm script that a document names exists", () => {
  const scriptsOf = (folder: string) =>
    JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")).scripts as Record<string, string>;
  const unknown = DOCUMENTS.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    const commands = [
      ...text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:-]*)(?: --workspace ([a-z][\w/-]*))?/g),
    ];
    return commands
      .filter(([, name = "", workspace = "."]) => !(name in scriptsOf(workspace)))
      .map(([command]) => `${path}: ${command}`);
  });
  expect(unknown).toEqual([]);
});

describe("JSON in the documents that no request above it returned", () => {
  const isEventPage = ({ path }: DocumentBlock) => /events\/[a-z]+\.[a-z_]+\.md$/.test(path);
  const shown = BLOCKS.filter(({ language, isResponse }) => language === "json" && !isResponse);
  /** Configuration of a host by URL and by command, a tool call, and its result. */
  const toolBlocks = shown.filter(({ path }) => path === TOOLS_PAGE).slice(0, 4);

  test.each(shown.filter(isEventPage))("is the tested payload of $path", ({ path, text }) => {
    expect(text).toBe(readFileSync(join(ROOT, path.replace(/md$/, "json")), "utf8"));
  });

  test("names a script of the package and existing settings if it configures an assistant", () => {
    const [, block] = toolBlocks;
    const { command, args, env } = JSON.parse(block?.text ?? "").mcpServers.waygate;
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect([command, Object.keys(scripts)]).toEqual(["npm", expect.arrayContaining([args.at(-1)])]);
    const configuration = readFileSync(join(ROOT, "docs/reference/configuration.md"), "utf8");
    for (const name of Object.keys(env)) expect(configuration).toContain(`\`${name}\``);
  });

  test("names the path of the contract if it configures an assistant by URL", () => {
    const [block] = toolBlocks;
    const { url, headers } = JSON.parse(block?.text ?? "").mcpServers.waygate;
    expect(`POST ${new URL(url).pathname}`).toBe(contract.mcp.http);
    expect(headers).toEqual({ Authorization: expect.stringMatching(/^Bearer wg_/) });
  });

  test("is a tool call of an assistant, with the result that the assistant tools return", async () => {
    const [, , call, result] = toolBlocks;
    if (!call || !result) throw new Error(`${TOOLS_PAGE} shows no tool call with its result`);
    const { gateway } = shell;
    const instance = await gateway.connectInstance();
    const assistant = new McpClient({ name: "guides", version: "1" });
    const env = {
      PATH: process.env.PATH ?? "",
      WAYGATE_BASE_URL: gateway.url,
      WAYGATE_API_KEY: instance.api_key,
    };
    const args = [join(ROOT, "dist/program/main.js"), "mcp"];
    await assistant.connect(
      new StdioClientTransport({ command: process.execPath, args, stderr: "ignore", env }),
    );
    const returned = await assistant.callTool(JSON.parse(call.text)).finally(() => assistant.close());
    const actual = { language: "json", text: JSON.stringify(returned) };
    expect(returned).toMatchObject({ structuredContent: { success: true } });
    if (isUpdate) writeResponses(TOOLS_PAGE, [{ call, responses: [result] }], [[actual]]);
    else expect(responseDifferences(result, actual)).toEqual([]);
  });

  test("does not exist elsewhere", () => {
    const others = shown.filter((block) => !isEventPage(block));
    expect(others).toEqual(toolBlocks);
  });
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
