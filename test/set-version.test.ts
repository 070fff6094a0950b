import { execFile } from "node:child_process";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { makeScratchDir, type ScratchDir } from "./scratch-dir.ts";
import { ROOT } from "./source-files.ts";

const run = promisify(execFile);
const N8N_NODE = "packages/n8n-nodes-waygate";
const { workspaces, version: current } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
  workspaces: string[];
  version: string;
};

let scratch: ScratchDir;
beforeAll(async () => {
  scratch = await makeScratchDir();
  const files = ["package.json", "package-lock.json", "CHANGELOG.md", "deploy/helm/Chart.yaml", "docs"];
  files.push(`${N8N_NODE}/package.json`);
  for (const path of [...files, ...workspaces.map((folder) => `${folder}/package.json`)])
    await cp(join(ROOT, path), join(scratch.path, path), { recursive: true });
});
afterAll(() => scratch.remove());

const read = (path: string) => readFile(join(scratch.path, path), "utf8");
const setVersion = (...args: string[]) =>
  run(process.execPath, [join(ROOT, "scripts/set-version.mjs"), ...args]);

test("a new version is written into every package, the lock file, the chart, the guides and the changelog", async () => {
  const changes = (await read("CHANGELOG.md")).split("## Unreleased")[1];
  await setVersion("9.8.7", scratch.path);
  for (const folder of ["", ...workspaces]) {
    expect(JSON.parse(await read(join(folder, "package.json"))).version).toBe("9.8.7");
    expect(JSON.parse(await read("package-lock.json")).packages[folder].version).toBe("9.8.7");
  }
  expect(JSON.parse(await read("package-lock.json")).version).toBe("9.8.7");
  expect(JSON.parse(await read(`${N8N_NODE}/package.json`)).version).toBe("9.8.7");
  expect(parse(await read("deploy/helm/Chart.yaml"))).toMatchObject({
    version: "9.8.7",
    appVersion: "9.8.7",
  });
  expect(await read("docs/start/install.md")).toContain("npm install --global ./waygate-9.8.7.tgz");
  expect(await read("docs/guides/assistant-tools.md")).not.toContain(`waygate-${current}.tgz`);
  const today = new Date().toISOString().slice(0, 10);
  expect((await read("CHANGELOG.md")).split("## Unreleased")[1]).toBe(`\n\n## 9.8.7 - ${today}${changes}`);
});

test("writing the same version again changes nothing", async () => {
  await setVersion("9.8.7", scratch.path);
  const before = await Promise.all(["CHANGELOG.md", "package-lock.json"].map(read));
  await setVersion("9.8.7", scratch.path);
  expect(await Promise.all(["CHANGELOG.md", "package-lock.json"].map(read))).toEqual(before);
});

test("a release candidate leaves the changes in the section Unreleased", async () => {
  const before = await read("CHANGELOG.md");
  await setVersion("9.9.0-rc.1", scratch.path);
  expect(await read("CHANGELOG.md")).toBe(before);
  expect(JSON.parse(await read("package.json")).version).toBe("9.9.0-rc.1");
});

test("what is not a version is refused", async () => {
  await expect(setVersion("9.8", scratch.path)).rejects.toMatchObject({ code: 2 });
});

test("the release starts from the version of the package", async () => {
  const manifest = JSON.parse(await readFile(join(ROOT, ".release-please-manifest.json"), "utf8"));
  expect(manifest).toEqual({ ".": current });
});
