import { execFile } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join, normalize, relative } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway } from "./gateway.ts";
import { buildDist } from "./run/build-dist.ts";
import {
  checkTypes,
  installPackages,
  type PackedPackage,
  packGateway,
  packWorkspace,
} from "./run/installed-packages.ts";
import { findProgram, needs } from "./run/programs.ts";
import { makeScratchDir, type ScratchDir } from "./run/scratch-dir.ts";
import { launchGateway } from "./run/spawn-gateway.ts";
import { startLocalServer } from "./servers/local-server.ts";
import { SIGNATURE_VECTORS } from "./signature-vectors.ts";
import { ROOT } from "./source-files.ts";

const run = promisify(execFile);
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

let scratch: ScratchDir;
let client: PackedPackage;
let webhooks: PackedPackage;
let gateway: PackedPackage;
/** A folder with the two small packages. */
let app = "";
/** A folder with the gateway. */
let home = "";

beforeAll(buildDist);
beforeAll(async () => {
  scratch = await makeScratchDir("waygate-packages-");
  // Other users run the installed programs.
  chmodSync(scratch.path, 0o755);
  app = join(scratch.path, "app");
  home = join(scratch.path, "home");
  client = await packWorkspace("client", scratch.path);
  webhooks = await packWorkspace("webhooks", scratch.path);
  gateway = await packGateway(scratch.path);
  await installPackages(app, [client, webhooks], "--offline");
  // The gateway needs no install scripts of its dependencies.
  await installPackages(home, [gateway], "--ignore-scripts");
}, 600_000);
afterAll(() => scratch.remove());

/** Runs a program that imports the packages installed in a folder. */
async function runIn(folder: string, program: string, input: unknown = null): Promise<unknown> {
  const file = join(folder, "program.mjs");
  writeFileSync(file, `const input = ${JSON.stringify(input)};\n${program}`);
  const { stdout } = await run(process.execPath, [file], { cwd: folder });
  return JSON.parse(stdout);
}

/** Names of the packages below a folder, including nested ones. */
function installedNames(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /(^|node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(path))
    .map((path) => JSON.parse(readFileSync(join(folder, path), "utf8")).name)
    .filter((name) => name !== undefined);
}

describe("the package of the client", () => {
  test("has the version of the gateway, its licence, and no dependency", () => {
    const manifest = JSON.parse(readFileSync(join(app, "node_modules/@waygate/client/package.json"), "utf8"));
    expect(manifest).toMatchObject({ version, license: "Apache-2.0" });
    expect(client.files).toEqual(
      expect.arrayContaining(["LICENSE", "NOTICE", "README.md", "dist/index.d.ts"]),
    );
    expect(client.files.filter((path) => /\.test\.|\.ts$/.test(path.replace(/\.d\.ts$/, "")))).toEqual([]);
    expect(installedNames(join(app, "node_modules")).sort()).toEqual([
      "@waygate/client",
      "@waygate/webhooks",
    ]);
    expect(client.size).toBeLessThan(100_000);
  });

  test("sends a message through a gateway, and throws its refusals", async () => {
    const story = await startTestGateway();
    try {
      const { id, api_key: apiKey } = await story.connectInstance();
      const said = await runIn(
        app,
        `import { createClient, WaygateError } from "@waygate/client";
        const client = createClient({ baseUrl: input.url, apiKey: input.apiKey });
        const { data } = await client.sendText({ id: input.id, number: "5511988887777", text: "Olá" });
        const refused = await client.sendText({ id: input.id, number: "5511999990000", text: "Olá" }).catch((error) => error);
        console.log(JSON.stringify({ status: data.status, code: refused.code, isOurs: refused instanceof WaygateError }));`,
        { url: story.url, id, apiKey },
      );
      expect(said).toEqual({ status: "sent", code: "RECIPIENT_NOT_FOUND", isOurs: true });
    } finally {
      await story.stop();
    }
  });

  test("has types without zod, in which a wrong field is a compile error", async () => {
    const file = join(app, "app.ts");
    writeFileSync(
      file,
      `import { createClient, type SendTextInput, WaygateError } from "@waygate/client";
      import { verifyWebhook, type WebhookMessage } from "@waygate/webhooks";
      const client = createClient({ baseUrl: "http://127.0.0.1:3000", apiKey: "wg_k" });
      const input: SendTextInput = { id: 1, number: "5511988887777", text: "Olá" };
      const { data } = await client.sendText(input, { idempotencyKey: "a" });
      export const id: string | undefined = data.message_id;
      // @ts-expect-error the instance is missing
      await client.sendText({ number: "5511988887777", text: "Olá" });
      // @ts-expect-error the id is neither a number nor its text
      await client.getInstance({ id: {} });
      // @ts-expect-error there is no such field
      data.message_idd;
      const { data: messages } = await client.listMessages({ id: "1" });
      export const texts: (string | null)[] = messages.map((message) => message.text);
      const event = await verifyWebhook({ headers: new Headers(), body: "" }, { secret: "whsec_" });
      export const message: WebhookMessage | undefined = event.data.message;
      export const code: string = new WaygateError(500, new Headers(), undefined).code;
      `,
    );
    await checkTypes(file);
  });

  test("has the types of the contract: each input fits, and each response is the same", async () => {
    const file = join(app, "compare.ts");
    const contracted = relative(app, join(ROOT, "src/client/client.ts"));
    writeFileSync(
      file,
      `import type { Client as Published } from "@waygate/client";
      import type { Client as Contracted } from "${contracted}";
      type Input<Method> = Method extends (input: infer I, ...rest: never[]) => unknown ? I : never;
      type Result<Method> = Method extends (...input: never[]) => Promise<infer R> ? R : never;
      type KeysOf<T> = T extends unknown ? keyof T & string : never;
      type IsSame<A, B> = [A, B] extends [B, A] ? true : false;
      type Faults<N extends keyof Contracted & keyof Published> =
        | (Input<Published[N]> extends Input<Contracted[N]> ? never : "input")
        | (IsSame<KeysOf<Input<Published[N]>>, KeysOf<Input<Contracted[N]>>> extends true ? never : "input fields")
        | (undefined extends Input<Published[N]>
            ? undefined extends Input<Contracted[N]> ? never : "input is optional"
            : undefined extends Input<Contracted[N]> ? "input is required" : never)
        | (IsSame<Result<Published[N]>, Result<Contracted[N]>> extends true ? never : "response");
      type Wrong = { [N in keyof Contracted & keyof Published as [Faults<N>] extends [never] ? never : N]: Faults<N> };
      type Missing = Exclude<keyof Contracted, keyof Published> | Exclude<keyof Published, keyof Contracted>;
      export const wrong: Wrong = {};
      export const missing: [Missing] extends [never] ? "none" : Missing = "none";
      `,
    );
    await checkTypes(file);
  });
});

test("the package of the verifier accepts genuine webhooks, rejects hostile ones and has no dependency", async () => {
  const manifest = JSON.parse(readFileSync(join(app, "node_modules/@waygate/webhooks/package.json"), "utf8"));
  expect(manifest).toMatchObject({ version, license: "Apache-2.0" });
  expect(manifest.dependencies).toBeUndefined();
  expect(webhooks.files).toEqual(expect.arrayContaining(["LICENSE", "NOTICE", "README.md"]));
  expect(webhooks.size).toBeLessThan(15_000);
  const vectors = SIGNATURE_VECTORS;
  const said = await runIn(
    app,
    `import { verifyWebhook, WebhookVerificationError } from "@waygate/webhooks";
    const textOf = (value) => (typeof value === "string" ? value : value.repeat.repeat(value.times));
    const results = [];
    for (const { secret, now, headers, body, times } of input) {
      const values = Object.entries(headers).map(([name, value]) => [name, [value].flat().map(textOf)]);
      const request = { headers: Object.fromEntries(values), body: body.repeat(times) };
      const error = await verifyWebhook(request, { secret, now: new Date(now * 1000) }).then(() => {}, (reason) => reason);
      const isRefusal = error instanceof WebhookVerificationError && error.message !== "The body is not JSON.";
      if (error && !(error instanceof WebhookVerificationError)) throw error;
      results.push(!isRefusal);
    }
    console.log(JSON.stringify(results));`,
    vectors,
  );
  expect(said).toEqual(vectors.map(({ valid }) => valid));
});

describe("the package of the gateway", () => {
  /** Runs it as another user than the installing one, if the tests may. */
  const asUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const program = () => join(home, "node_modules/waygate/bin/waygate.mjs");

  test("installs no package that reports usage to its vendor", () => {
    const names = installedNames(join(home, "node_modules"));
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => /scarf|posthog|sentry|analytics/.test(name))).toEqual([]);
    expect(names).not.toContain("@waygate/client");
  });

  test("has the command waygate for npx", async () => {
    const { stdout } = await run("npx", ["waygate", "--version"], { cwd: home });
    expect(stdout).toBe(`${version}\n`);
  });

  test("has the command waygate after a global installation", async () => {
    const prefix = join(scratch.path, "global");
    mkdirSync(prefix);
    await installPackages(prefix, [gateway], "--global", "--prefix", prefix);
    const { stdout } = await run(join(prefix, "bin/waygate"), ["--version"], { ...asUser, cwd: "/" });
    expect(stdout).toBe(`${version}\n`);
  }, 600_000);

  test("exports the client and the contract", async () => {
    const said = await runIn(
      home,
      `import { createClient, verifyWebhook } from "waygate/client";
      import { contract } from "waygate/contract";
      const client = createClient({ baseUrl: "http://127.0.0.1:1" });
      console.log(JSON.stringify([Object.keys(client).length === Object.keys(contract).length, typeof verifyWebhook]));`,
    );
    expect(said).toEqual([true, "function"]);
  });

  test("contains the panel only in compressed form, with the licences of its libraries", () => {
    const files = gateway.files.filter((path) => path.startsWith("dist/panel/"));
    expect(files).toContain("dist/panel/files.json");
    expect(files).toContain("dist/panel/index.html.br");
    expect(files).toContain("dist/panel/licenses.md.gz");
    expect(files.filter((path) => !/\.(br|gz|woff2)$|files\.json$/.test(path))).toEqual([]);
    expect(gateway.files.filter((path) => path.startsWith("panel/"))).toEqual([]);
    expect(gateway.size).toBeLessThan(5_000_000);
  });

  test("serves on its own PostgreSQL, run by a user who may write only to the data directory", async () => {
    const data = join(scratch.path, "data");
    mkdirSync(data);
    if (asUser.uid !== undefined) chownSync(data, asUser.uid, asUser.gid);
    const settings = {
      WAYGATE_DATA_DIR: data,
      WAYGATE_PORT: "0",
      WAYGATE_WHATSAPP_URL: "ws://127.0.0.1:1/",
      HOME: data,
    };
    const served = launchGateway(settings, "serve", {
      program: program(),
      cwd: data,
      isTerminal: true,
      ...asUser,
    });
    try {
      const url = await served.listening;
      const printed = (what: RegExp) => served.output().match(what)?.[1] ?? "";
      const said = await runIn(
        app,
        `import { createClient } from "@waygate/client";
        const { email, password, url } = input;
        const { token } = (await createClient({ baseUrl: url }).login({ email, password })).data;
        const owner = createClient({ baseUrl: url, token });
        const { data: made } = await owner.createInstance({ name: "Sales", network: "sandbox" });
        const client = createClient({ baseUrl: url, apiKey: made.api_key });
        await client.sandboxScan({ id: made.id });
        const { data } = await client.sendText({ id: made.id, number: "5511988887777", text: "Olá" });
        console.log(JSON.stringify(data.status));`,
        {
          url,
          email: printed(/^Owner's sign-in: (\S+)$/m),
          password: printed(/^Password: +(\S+) .*shown this once/m),
        },
      );
      expect(said).toBe("sent");
      expect(printed(/^ +http:\S+\/panel\/welcome#(\S+)$/m)).toMatch(/^[\w-]{43}$/);
      const page = await fetch(url, { headers: { accept: "text/html" } });
      expect(page.url).toBe(`${url}/panel/`);
      const html = await page.text();
      expect(html).toContain('<div id="root">');
      for (const [, path] of html.matchAll(/(?:src|href)="(\/panel\/[^"]+)"/g)) {
        for (const encoding of ["br", "gzip", "identity"]) {
          const asset = await fetch(`${url}${path}`, { headers: { "accept-encoding": encoding } });
          expect([path, asset.status]).toEqual([path, 200]);
          expect((await asset.text()).length).toBeGreaterThan(100);
        }
      }
    } finally {
      await served.kill("SIGTERM");
    }
  });
});

const executablePath = findProgram("chromium");

/** The pages load only files of the packages. */
const PAGES = [
  {
    name: "@waygate/client and @waygate/webhooks",
    folder: () => app,
    imports: {
      "@waygate/client": "/node_modules/@waygate/client/dist/index.js",
      "@waygate/webhooks": "/node_modules/@waygate/webhooks/dist/verify-webhook.js",
    },
    load: `import { createClient } from "@waygate/client"; import { verifyWebhook } from "@waygate/webhooks";`,
  },
  {
    name: "waygate/client, with zod",
    folder: () => home,
    imports: {
      "waygate/client": "/node_modules/waygate/dist/src/client/client.js",
      zod: "/node_modules/zod/index.js",
    },
    load: `import { createClient, verifyWebhook } from "waygate/client";`,
  },
];

const pageOf = ({ imports, load }: (typeof PAGES)[number]) => `<!doctype html><title>client</title>
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">
${load}
const client = createClient({ baseUrl: location.origin, apiKey: "wg_x" });
const { data } = await client.sendText({ id: 7, number: "5511988887777", text: "Olá" });
const { secret, headers, body, now } = await (await fetch("/vector")).json();
const options = { secret, now: new Date(now * 1000) };
const event = await verifyWebhook({ headers, body }, options);
const refusal = await verifyWebhook({ headers, body: body + " " }, options).catch((error) => error.name);
window.result = { data, event, refusal };
</script>`;

describe("a browser", needs("chromium"), () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());

  test.each(PAGES)("sends and verifies webhooks with $name as published", async (page) => {
    const sent: string[] = [];
    const { url, shut } = await startLocalServer((request, response) =>
      respond(page, sent, request, response),
    );
    try {
      expect(await resultOf(browser, url)).toEqual({
        data: { status: "sent" },
        event: { event: "message.received" },
        refusal: "WebhookVerificationError",
      });
      expect(sent).toEqual([
        'POST /api/v1/instances/7/send-text wg_x {"number":"5511988887777","text":"Olá"}',
      ]);
    } finally {
      await shut();
    }
  });
});

async function resultOf(browser: Browser, url: string): Promise<unknown> {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(url);
  const result = await page
    .waitForFunction("window.result", undefined, { timeout: 60_000 })
    .catch(() => expect.fail(`nothing came: ${errors.join(", ")}`));
  return result.jsonValue();
}

/** Serves the page, its files, and an API that accepts every message. */
async function respond(
  page: (typeof PAGES)[number],
  sent: string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url ?? "/";
  if (path.startsWith("/api/")) {
    const parts = [];
    for await (const part of request) parts.push(part as Buffer);
    sent.push(`${request.method} ${path} ${request.headers["x-api-key"]} ${Buffer.concat(parts)}`);
    response.setHeader("content-type", "application/json");
    return void response.end('{"success":true,"message":"Message sent","data":{"status":"sent"}}');
  }
  const [vector] = SIGNATURE_VECTORS;
  const [type, body] =
    path === "/"
      ? ["text/html; charset=utf-8", pageOf(page)]
      : path === "/vector"
        ? ["application/json", JSON.stringify(vector)]
        : ["text/javascript", await readFile(join(page.folder(), normalize(path))).catch(() => undefined)];
  response.setHeader("content-type", type);
  response.writeHead(body === undefined ? 404 : 200).end(body);
}
