import { cp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../src/client/client.ts";
import { EXTENSIONS } from "../src/processes/extensions.ts";
import { createEmptyDatabase } from "./database.ts";
import { ADMIN_TOKEN, newPhone } from "./gateway.ts";
import { buildDist } from "./run/build-dist.ts";
import { makeScratchDir, type ScratchDir } from "./run/scratch-dir.ts";
import { spawnGateway } from "./run/spawn-gateway.ts";
import { ROOT } from "./source-files.ts";

/** Where extensions have their lines. */
const LISTS = ["src/processes/extensions.js", "src/contract.js", "src/cli/add-operator-commands.js"];
/** What the command line has for an extension. */
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

/** The extension, and those that need it. */
function withDependents(name: string): Set<string> {
  const names = new Set([name]);
  for (const one of EXTENSIONS) if (one.needs?.some((needed) => names.has(needed))) names.add(one.name);
  return names;
}

/** The compiled program without these extensions: their folders, and their lines in the lists. */
async function removeExtensions(dist: string, names: ReadonlySet<string>): Promise<void> {
  for (const name of names) {
    await rm(join(dist, "src/extensions", name), { recursive: true });
    for (const file of COMMANDS[name] ?? []) await rm(join(dist, `src/cli/${file}.js`));
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
    const store = await createEmptyDatabase();
    const settings = {
      DATABASE_URL: store.url,
      WAYGATE_DATA_DIR: join(scratch.path, `data-${name}`),
      WAYGATE_SECRET_KEY: "q83vEjRWeJq83vASNFZ4mg0Tg6XzLk7d",
      WAYGATE_ADMIN_TOKEN: ADMIN_TOKEN,
      WAYGATE_PORT: "0",
    };
    const gateway = await spawnGateway(settings, { program: join(dist, "src/main.js") });
    try {
      expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
      if (!names.has("public-pages")) await expectRoutes(gateway.url, names);
      if (!names.has("sandbox")) await sendInSandbox(gateway.url);
    } finally {
      await gateway.kill();
      await store.drop();
    }
  },
);

/** Its description has the routes of core and of what is left. */
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
