import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDist } from "../test/run/build-dist.ts";
import { packageVersion } from "./platform/package-version.ts";

beforeAll(buildDist);

const MAIN = fileURLToPath(new URL("../dist/program/main.js", import.meta.url));

/** Every command, without groups. */
const COMMANDS = [
  "serve",
  "try",
  "listen",
  "send",
  "mcp",
  "openapi",
  "account create",
  "key rotate",
  "audit verify",
  "backup",
  "restore",
  "doctor",
];

const KEY = "8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e";

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waygate-cli-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function waygate(line: string, env: Record<string, string> = {}): Promise<Run> {
  const options = { env: { PATH: process.env.PATH ?? "", ...env }, cwd: folder, maxBuffer: 32 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...line.split(" ")], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

describe("a wrong command line", () => {
  test("names a command that does not exist, with --help behind it too", async () => {
    for (const line of ["bogus", "bogus --help"]) {
      const { code, stderr } = await waygate(line);
      expect(code).toBe(2);
      expect(stderr).toContain("unknown command 'bogus'");
    }
  });

  test("says where settings come from when one is given as an option", async () => {
    for (const line of ["serve --port 3402", "--port 3402"]) {
      const { code, stderr } = await waygate(line);
      expect(code).toBe(2);
      expect(stderr).toMatch(/unknown option '--port'[\s\S]*WAYGATE_PORT=8080 waygate serve/);
    }
  });

  test("rejects an invalid head of the audit log", async () => {
    const { code, stderr } = await waygate("audit verify --head 9f2c");
    expect(code).toBe(1);
    expect(stderr.trim()).toBe("--head must be the 64 hexadecimal digits that an earlier run printed.");
  });
});

describe("an old Node", () => {
  test("is refused in one sentence, before anything is loaded", async () => {
    const bin = fileURLToPath(new URL("../bin/waygate.mjs", import.meta.url));
    const old =
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })";
    const preload = `data:text/javascript,${encodeURIComponent(old)}`;
    const said = await new Promise((resolve) => {
      execFile(process.execPath, ["--import", preload, bin], { cwd: folder }, (error, _stdout, stderr) =>
        resolve({ code: error?.code, stderr }),
      );
    });
    expect(said).toEqual({ code: 1, stderr: "Waygate needs Node 20.19 or newer; this is Node 18.20.4.\n" });
  });
});

describe("help", () => {
  test("lists every command, what comes without one, and what the exit status means", async () => {
    const { code, stdout } = await waygate("--help");
    expect(code).toBe(0);
    const listed = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    const known = COMMANDS.map((command) => command.split(" ")[0]);
    expect(listed.sort()).toEqual([...known, "help"].sort());
    for (const words of [
      "Without a command, Waygate runs",
      "Exit status: 0",
      "docs/reference/configuration.md",
    ]) {
      expect(stdout).toContain(words);
    }
  });

  test.each(COMMANDS)("of %s teaches with examples of it", async (command) => {
    const { code, stdout } = await waygate(`${command} --help`);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`\\nExamples:\\n {2}\\$ .*waygate ${command}`));
  });

  test("the version is that of the package", async () => {
    expect(await waygate("--version")).toEqual({ code: 0, stdout: `${packageVersion()}\n`, stderr: "" });
  });
});

describe("a wrong command line ends with 2, with a message and without a stack", () => {
  test.each([
    ["serv", "unknown command 'serv'\n(Did you mean serve?)"],
    ["docter", "(Did you mean doctor?)"],
    ["account creat", "(Did you mean create?)"],
    ["account", "Usage: waygate account"],
    ["account create --name Shop", "required option '--email <email>' not specified"],
    ["key rotate --now", "unknown option '--now'"],
    ["audit verify --hed 00", "(Did you mean --head?)"],
    ["serve now", "too many arguments for 'serve'"],
    ["restore", "Give a file, --release or --discard"],
    ["openapi --output", "argument missing"],
    ["send", "missing required argument 'number'"],
    ["send 5511999990004 Hello", "Give the API key of an instance with --key or WAYGATE_API_KEY"],
    ["send 5511999990004 --key wg_x", "Give a text, - for standard input, or --file"],
    ["send 5511999990004 x --key wg_x --file /nowhere/x", "/nowhere/x cannot be read (ENOENT)"],
    ["listen", "Give the API key of an instance with --key or WAYGATE_API_KEY"],
    ["listen --secret whsec_x --since 1h", "cannot be used with option"],
    ["listen --key wg_x --port 65536", "--port must be a number"],
    ["listen --key wg_x --url localhost", "--url or WAYGATE_BASE_URL must be"],
    ["try --url http://127.0.0.1:2", "Sign in to this gateway"],
  ])("%s", async (line, words) => {
    const { code, stdout, stderr } = await waygate(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("    at ");
  });
});

describe("a command that fails ends with 1 and a reason", () => {
  test.each([
    ["mcp", {}, "WAYGATE_API_KEY is required"],
    ["openapi --output /nowhere/openapi.json", {}, "/nowhere/openapi.json cannot be written"],
    ["serve", { WAYGATE_PROT: "1" }, "WAYGATE_PROT"],
    ["backup", { DATABASE_URL: "postgres://127.0.0.1:1/x", WAYGATE_SECRET_KEY: KEY }, "cannot be reached"],
    ["send 5511999990004 Hello --key wg_x --url http://127.0.0.1:2", {}, "cannot be reached (ECONNREFUSED)"],
    ["listen --key wg_x --instance 1 --url http://127.0.0.1:2", {}, "cannot be reached (ECONNREFUSED)"],
    ["try --token x --url http://127.0.0.1:2", {}, "cannot be reached (ECONNREFUSED)"],
    ["account create --name A --email a@example.com --type boss", {}, "--type must be owner"],
  ])("%s with %j", async (line, env, words) => {
    const { code, stderr } = await waygate(line, env);
    expect(code).toBe(1);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("    at ");
  });
});

describe("openapi", () => {
  test("prints the description, or writes it to a file and says so", async () => {
    const printed = await waygate("openapi");
    expect(JSON.parse(printed.stdout).paths).toHaveProperty(["/api/v1/instances/{id}/send-text"]);
    const file = join(folder, "openapi.json");
    const written = await waygate(`openapi --output ${file}`);
    expect(written).toEqual({ code: 0, stdout: "", stderr: `Written to ${file}.\n` });
    expect(await readFile(file, "utf8")).toBe(printed.stdout);
  });
});
