import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PackedPackage, packWorkspace } from "../run/installed-packages.ts";
import { makeScratchDir, type ScratchDir } from "../run/scratch-dir.ts";
import { skipUnless } from "../run/skip-unless.ts";
import { ROOT } from "../source-files.ts";

const run = promisify(execFile);

/** Where to install real products. Enables these tests, which need the npm registry. */
const { WAYGATE_INTEGRATIONS_CACHE: CACHE } = process.env;

const PACKAGE = join(ROOT, "packages/n8n-nodes-waygate");
const SOURCES = ["credentials", "nodes", "package.json", "tsconfig.json", "eslint.config.mjs", "README.md"];

/** n8n's linter and types in the package's versions: 640 packages that `npm ci` of the repository leaves out. */
async function installTools(cacheFolder: string): Promise<string> {
  const { devDependencies } = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8"));
  const manifest = JSON.stringify({ private: true, devDependencies });
  const digest = createHash("sha256").update(manifest).digest("hex").slice(0, 16);
  const folder = join(cacheFolder, `n8n-node-tools-${digest}`);
  const isThere = await readFile(join(folder, "node_modules/.package-lock.json")).catch(() => undefined);
  if (isThere) return folder;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), manifest);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...flags], { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  return folder;
}

describe(
  "the n8n node",
  skipUnless(CACHE !== undefined, "WAYGATE_INTEGRATIONS_CACHE, a folder, is not set"),
  () => {
    let scratch: ScratchDir;
    let folder: string;
    let tools: string;
    let packed: PackedPackage;

    beforeAll(async () => {
      tools = join(await installTools(CACHE ?? ""), "node_modules");
      scratch = await makeScratchDir();
      // Also writes the sources that are generated from the contract.
      packed = await packWorkspace("n8n-nodes-waygate", scratch.path);
      folder = join(scratch.path, "n8n-nodes-waygate");
      for (const name of SOURCES) await cp(join(PACKAGE, name), join(folder, name), { recursive: true });
      await symlink(tools, join(folder, "node_modules"));
    }, 900_000);
    afterAll(() => scratch?.remove());

    /** Returns the output of a tool. Throws it if the tool fails. */
    async function useTool(program: string, ...args: string[]): Promise<string> {
      // With NODE_ENV=test n8n's linter treats every file as its own test.
      const { PATH, HOME } = process.env;
      const options = { cwd: folder, env: { PATH, HOME } };
      const { stdout, stderr } = await run(process.execPath, [join(tools, program), ...args], options).catch(
        (error) => {
          throw new Error(`${program} ${args.join(" ")} failed:\n${error.stdout}${error.stderr}`);
        },
      );
      return stdout + stderr;
    }

    test("has neither errors nor warnings in the linter of n8n", async () => {
      expect(await useTool("@n8n/node-cli/bin/n8n-node.mjs", "lint")).not.toMatch(/error|warning|problem/i);
    });

    test("has the types of n8n", async () => {
      expect(await useTool("typescript/bin/tsc", "--noEmit", "-p", ".")).toBe("");
    });

    test("is published with the files that the builder of n8n makes", async () => {
      await useTool("@n8n/node-cli/bin/n8n-node.mjs", "build");
      const built = await readdir(join(folder, "dist"), { recursive: true });
      const published = packed.files.filter((path) => path.startsWith("dist/")).map((path) => path.slice(5));
      const expected = [...built.filter((path) => /\.\w+$/.test(path)), "package.json"];
      expect(published.toSorted()).toEqual(expected.toSorted());
    });
  },
);
