import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { formatWatchList, readWatchList } from "../scripts/upstream/upstream-watch.ts";
import { buildDist } from "./run/build-dist.ts";
import { makeScratchDir, type ScratchDir } from "./run/scratch-dir.ts";

beforeAll(buildDist);

const SCRIPT = fileURLToPath(new URL("../dist/scripts/upstream/watch-upstream.js", import.meta.url));
const LIST = fileURLToPath(new URL("../scripts/upstream/upstream-watch.json", import.meta.url));
const BAILEYS = fileURLToPath(new URL("../node_modules/baileys", import.meta.url));

const SOCKET = ["before", "  ws.on('pair-device', () => {", "    draw();", "  });", "after"];
const EMPTY = { version: "0", folder: "", extension: ".js", regions: [], names: [] };
const WATCHED = {
  baileys: {
    version: "1.0.0",
    folder: "lib",
    extension: ".js",
    regions: [
      { file: "lib/socket.js", from: "ws.on('pair-device'", lines: 3, why: "The QR.", state: "absent" },
      { file: "lib/socket.js", from: "ws.on('rotate'", lines: 3, why: "The secret.", state: "absent" },
    ],
    names: [
      { text: "link_code", why: "The pairing code.", state: [] },
      { text: "companion_reg_refresh", why: "The refresh.", state: "absent" },
    ],
  },
  whatsmeow: {
    version: "0",
    folder: "",
    extension: ".go",
    regions: [],
    names: [{ text: "RotateADVSecret", why: "The event.", state: "present" }],
  },
  zapo: EMPTY,
  "whatsapp-rust": EMPTY,
  web: EMPTY,
};

let scratch: ScratchDir;
let list: string;
let checkout: string;
let rounds = 0;

beforeAll(async () => {
  scratch = await makeScratchDir("waygate-watch-");
});

afterAll(() => scratch.remove());

beforeEach(async () => {
  const folder = join(scratch.path, String(++rounds));
  [list, checkout] = [join(folder, "list.json"), join(folder, "checkout")];
  await put("package.json", '{"version":"1.0.0"}');
  await put("lib/socket.js", SOCKET.join("\n"));
  await put("lib/code.js", "link_code");
  await writeFile(list, JSON.stringify(WATCHED));
  expect((await watch("--baileys", checkout, "--record")).code).toBe(0);
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(checkout, path)), { recursive: true });
  await writeFile(join(checkout, path), text);
}

function watch(...options: string[]): Promise<{ code: number; said: string }> {
  const all = options.includes("--list") ? options : ["--list", list, ...options];
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...all], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });
}

const compare = () => watch("--baileys", checkout);

describe("The watch of other projects", () => {
  test("finds the pinned Baileys as it was recorded (else: read what changed, then --record)", async () => {
    expect(await watch("--list", LIST, "--baileys", BAILEYS)).toEqual({
      code: 0,
      said: "baileys (recorded 7.0.0-rc14, given 7.0.0-rc14): 0 of what is watched changed\n",
    });
  });

  test("has its list as --record writes it", async () => {
    expect(formatWatchList(readWatchList(LIST))).toBe(await readFile(LIST, "utf8"));
  });

  test("finds no change in a checkout as recorded, whatever its indentation and other lines", async () => {
    expect((await compare()).code).toBe(0);
    await put("lib/socket.js", ["other", ...SOCKET.map((line) => `\t${line}`), "more"].join("\r\n"));
    await put("lib/other.js", "nothing that is watched");
    expect(await compare()).toMatchObject({ code: 0, said: expect.stringContaining(": 0 of what") });
  });

  test.each<[string, Record<string, string>, string[]]>([
    [
      "a region that changed",
      { "lib/socket.js": SOCKET.join("\n").replace("draw()", "drawAgain()") },
      [`the region from "ws.on('pair-device'" changed`, "The QR."],
    ],
    [
      "a region that is gone",
      { "lib/socket.js": "nothing" },
      [`the region from "ws.on('pair-device'" is gone`],
    ],
    [
      "a region that is new",
      { "lib/socket.js": [...SOCKET, "ws.on('rotate', rotate);"].join("\n") },
      [`the region from "ws.on('rotate'" is new`, "The secret."],
    ],
    [
      "a name that appears",
      { "lib/refresh.js": "'CB:notification,type:companion_reg_refresh'" },
      ['"companion_reg_refresh" is new in lib/refresh.js', "The refresh."],
    ],
    [
      "a name that moves",
      { "lib/code.js": "", "lib/pairing/code.js": "link_code" },
      ['"link_code" is new in lib/pairing/code.js, gone from lib/code.js', "The pairing code."],
    ],
  ])("names %s, and its meaning", async (_what, files, lines) => {
    await put("package.json", '{"version":"1.1.0"}');
    for (const [path, text] of Object.entries(files)) await put(path, text);
    const found = await compare();
    expect(found.code).toBe(1);
    for (const part of ["recorded 1.0.0, given 1.1.0): 1 of", ...lines]) expect(found.said).toContain(part);
  });

  test("accepts a recorded state as the new reference, and does not change other projects", async () => {
    await put("package.json", '{"version":"1.1.0"}');
    await put("lib/refresh.js", "companion_reg_refresh");
    expect((await watch("--baileys", checkout, "--record")).code).toBe(0);
    expect((await compare()).code).toBe(0);
    const written = JSON.parse(await readFile(list, "utf8"));
    expect(written.baileys.version).toBe("1.1.0");
    expect(written).toMatchObject({ whatsmeow: WATCHED.whatsmeow, web: EMPTY });
  });

  test("knows only the existence of some names until they are recorded", async () => {
    await put("pair.go", "cli.dispatch(RotateADVSecret{})");
    expect((await watch("--whatsmeow", checkout)).code).toBe(0);
    await put("pair.go", "nothing");
    const { code, said: output } = await watch("--whatsmeow", checkout);
    expect([code, output]).toEqual([1, expect.stringContaining('"RotateADVSecret" is gone')]);
  });

  test("follows no links out of a checkout, and reads no packages within it", async () => {
    await symlink(checkout, join(checkout, "lib/circle"));
    await symlink("/etc/passwd", join(checkout, "lib/secret.js"));
    await put("lib/node_modules/other/index.js", "companion_reg_refresh");
    expect((await compare()).code).toBe(0);
  });

  test.each<[string, () => Promise<string[]>, RegExp]>([
    ["no folder is given", async () => [], /^npm run watch:upstream -- /],
    [
      "an option is unknown",
      async () => ["--waha", "x"],
      /Unknown option '--waha'[\s\S]*npm run watch:upstream/,
    ],
    ["the folder does not exist", async () => ["--baileys", "/nowhere"], /^\/nowhere is not a folder\./],
    ["the folder is a file", async () => ["--baileys", list], /list\.json is not a folder\./],
    [
      "the checkout was not built",
      async () => ["--baileys", join(checkout, "lib")],
      /lib has no folder lib\. Give an unpacked package/,
    ],
    ["nothing is of the language", async () => ["--whatsmeow", checkout], /has no \.go file\./],
    [
      "its package is not JSON",
      async () => {
        await put("package.json", "{");
        return ["--baileys", checkout];
      },
      /package\.json is not JSON: /,
    ],
    [
      "its package names no version",
      async () => {
        await put("package.json", '{"version":7}');
        return ["--baileys", checkout];
      },
      /package\.json names no version\./,
    ],
    [
      "a file is too large",
      async () => {
        await put("lib/bundle.js", "");
        await writeFile(join(checkout, "lib/bundle.js"), Buffer.alloc(65 * 1024 * 1024));
        return ["--baileys", checkout];
      },
      /bundle\.js is larger than \d+ bytes\./,
    ],
    [
      "the list is not JSON",
      async () => {
        await writeFile(list, "nonsense");
        return ["--baileys", checkout];
      },
      /list\.json is not JSON: /,
    ],
    [
      "the list has another shape",
      async () => {
        await writeFile(list, JSON.stringify({ ...WATCHED, web: { ...EMPTY, names: [{ text: "x" }] } }));
        return ["--baileys", checkout];
      },
      /is not a list of what to watch:[\s\S]*web\.names\[0\]/,
    ],
  ])("reports the error when %s, and writes nothing", async (_what, prepare, expected) => {
    const options = await prepare();
    const before = await readFile(list, "utf8");
    const { code, said: output } = await watch(...options, "--record");
    expect(code).toBe(2);
    expect(output).toMatch(expected);
    expect(await readFile(list, "utf8")).toBe(before);
  });
});
