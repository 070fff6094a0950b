import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../src/client/client.ts";
import { EXTENSIONS } from "../src/processes/extensions.ts";
import { createEmptyDatabase } from "./database.ts";
import { type DocumentBlock, readBlocks } from "./documents/document-blocks.ts";
import { ADMIN_TOKEN, newPhone, waitUntil } from "./gateway.ts";
import { buildDist } from "./run/build-dist.ts";
import { makeScratchDir, type ScratchDir } from "./run/scratch-dir.ts";
import { spawnGateway } from "./run/spawn-gateway.ts";
import { OWNER, signIn } from "./sign-in.ts";
import { ROOT } from "./source-files.ts";

/** Files that list extensions. */
const LISTS = ["src/processes/extensions.js", "src/contract.js", "src/cli/operator/add-operator-commands.js"];
/** Commands of an extension. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  backups: ["add-backup-commands", "backup-commands"],
};

let scratch: ScratchDir;

beforeAll(buildDist);
beforeAll(async () => {
  scratch = await makeScratchDir();
  for (const file of ["package.json", "openapi.json"]) await cp(join(ROOT, file), join(scratch.path, file));
  await symlink(join(ROOT, "node_modules"), join(scratch.path, "node_modules"));
});
afterAll(() => scratch.remove());

/** The extension and its dependents. */
function withDependents(name: string): Set<string> {
  const names = new Set([name]);
  for (const one of EXTENSIONS) if (one.needs?.some((needed) => names.has(needed))) names.add(one.name);
  return names;
}

/** The compiled program without the folders and list lines of these extensions. */
async function removeExtensions(dist: string, names: ReadonlySet<string>): Promise<void> {
  for (const name of names) {
    await rm(join(dist, "src/extensions", name), { recursive: true });
    for (const file of COMMANDS[name] ?? []) await rm(join(dist, `src/cli/operator/${file}.js`));
  }
  const gone = [...names].flatMap((name) => [`/extensions/${name}/`, ...(COMMANDS[name] ?? [])]);
  for (const list of LISTS) {
    const lines = (await readFile(join(dist, list), "utf8")).split("\n");
    const imports = lines.filter(
      (line) => line.startsWith("import ") && gone.some((one) => line.includes(one)),
    );
    const values = imports.flatMap((line) => line.match(/\{ (.+) \}/)?.[1]?.split(", ") ?? []);
    const kept = lines.filter((line) => !values.some((value) => line.includes(value)));
    await writeFile(join(dist, list), kept.join("\n"));
  }
}

test.each(EXTENSIONS.map(({ name }) => name))(
  "the program without the extension %s starts on an empty database and sends",
  async (name) => {
    const names = withDependents(name);
    const dist = join(scratch.path, "dist");
    await rm(dist, { recursive: true, force: true });
    await cp(join(ROOT, "dist/src"), join(dist, "src"), { recursive: true });
    for (const folder of ["migrations", "packages"])
      await cp(join(ROOT, "dist", folder), join(dist, folder), { recursive: true });
    await removeExtensions(dist, names);
    await withGateway(dist, async (url) => {
      expect((await fetch(`${url}/health/ready`)).status).toBe(200);
      if (!names.has("public-pages")) await expectRoutes(url, names);
      if (!names.has("sandbox")) await sendInSandbox(url);
    });
  },
);

/** Starts the compiled program on an empty database. */
async function withGateway(dist: string, use: (url: string) => Promise<void>): Promise<void> {
  const store = await createEmptyDatabase();
  const settings = {
    DATABASE_URL: store.url,
    WAYGATE_DATA_DIR: join(dirname(dist), "data"),
    WAYGATE_SECRET_KEY: "q83vEjRWeJq83vASNFZ4mg0Tg6XzLk7d",
    WAYGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    WAYGATE_OWNER_EMAIL: OWNER.email,
    WAYGATE_OWNER_PASSWORD: OWNER.password,
    WAYGATE_PORT: "0",
  };
  const gateway = await spawnGateway(settings, { program: join(dist, "src/main.js") });
  try {
    await use(gateway.url);
  } finally {
    await gateway.kill();
    await store.drop();
    await rm(settings.WAYGATE_DATA_DIR, { recursive: true, force: true });
  }
}

/** Its OpenAPI document has the routes of core and of the remaining extensions. */
async function expectRoutes(baseUrl: string, without: ReadonlySet<string>): Promise<void> {
  const text = await (await fetch(`${baseUrl}/openapi.json`)).text();
  const described = new Set([...text.matchAll(/"operationId": ?"(\w+)"/g)].map(([, id = ""]) => id));
  expect(described).toContain("sendText");
  for (const { name, contract = {} } of EXTENSIONS)
    expect(Object.keys(contract).filter((route) => described.has(route)).length > 0).toBe(
      !without.has(name) && Object.keys(contract).length > 0,
    );
}

async function sendInSandbox(baseUrl: string): Promise<void> {
  const admin = createClient({ baseUrl, adminToken: ADMIN_TOKEN });
  const { data } = await admin.createInstanceWithKey({ name: "Shop", network: "sandbox" });
  const { id, api_key: apiKey } = data;
  const client = createClient({ baseUrl, apiKey });
  await client.connectInstance({ id });
  await client.sandboxScan({ id });
  const sent = await client.sendText({ id, number: newPhone(), text: "Hello" });
  expect(sent.data.message_id).toMatch(/^3EB0/);
}

test("the extension that the page about extensions builds compiles, starts and lists who wrote", async () => {
  const tree = join(scratch.path, "tree");
  const folders = ["src", "test", "migrations", "packages", "scripts"];
  for (const path of [...folders, "package.json", "openapi.json", "tsconfig.json", "tsconfig.build.json"])
    await cp(join(ROOT, path), join(tree, path), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(tree, "node_modules"));
  for (const block of readBlocks("docs/contributing/extensions.md")) await addBlock(tree, block);
  // Includes the page's own test, which the build leaves out.
  const config = {
    extends: "./tsconfig.build.json",
    files: ["src/extensions/newcomers/newcomers.test.ts", "test/run/global-setup.ts"],
    compilerOptions: { declaration: false, sourceMap: false },
  };
  await writeFile(join(tree, "tsconfig.example.json"), JSON.stringify(config));
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const args = [compiler, "-p", join(tree, "tsconfig.example.json")];
  await promisify(execFile)(process.execPath, args).catch(({ stdout }) => expect(stdout).toBe(""));
  await withGateway(join(tree, "dist"), async (url) => {
    const { client, headers } = await signIn(url);
    const { id } = (await client.createInstance({ name: "Shop", network: "sandbox" })).data;
    await client.sandboxScan({ id });
    await waitUntil(async () => (await client.getInstanceStatus({ id })).data.connected);
    const from = newPhone();
    await client.sandboxReceive({ id, from, text: "Hello" });
    const list = async () => (await fetch(`${url}/api/newcomers`, { headers })).text();
    await waitUntil(async () => (await list()).includes(`"${from}"`));
  });
});

/** A code block is a file. A diff block contains the existing line before each new line. */
async function addBlock(tree: string, { language, text }: DocumentBlock): Promise<void> {
  const [, name = "", body = ""] = text.match(/^\/\/ (\S+)\n([\s\S]*)$/) ?? [];
  const path = join(tree, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, language === "diff" ? withLines(await readFile(path, "utf8"), body) : body);
}

function withLines(file: string, changes: string): string {
  const lines = file.split("\n");
  let at = -1;
  for (const change of changes.trimEnd().split("\n")) {
    const line = change.slice(1);
    at = change.startsWith("+") ? at + 1 : lines.indexOf(line);
    if (at < 0) throw new Error(`no line of the file is ${line}`);
    if (change.startsWith("+")) lines.splice(at, 0, line);
  }
  return lines.join("\n");
}
