import { execFile } from "node:child_process";
import { appendFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listSettings } from "../src/platform/config/config.ts";
import { buildDist } from "./run/build-dist.ts";

beforeAll(buildDist);

const SCRIPT = fileURLToPath(new URL("../dist/scripts/generate.js", import.meta.url));
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waygate-generate-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function generate(...options: string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...options], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });
}

it("the committed files match their sources (else: npm run generate)", async () => {
  expect(await generate("--check")).toEqual({ code: 0, said: "" });
});

it("--check writes nothing and names each file that is out of date", async () => {
  const { code, said: output } = await generate("--into", folder, "--check");
  expect(code).toBe(1);
  const names = output.match(/^\S+/gm) ?? [];
  const files = [
    "docs/reference/configuration.md",
    "docs/reference/errors.md",
    "packages/webhooks/src/webhook-message.ts",
    ".env.example",
    "ARCHITECTURE.md",
    "openapi.json",
  ];
  expect(names).toEqual(files);
  expect(await readdir(folder)).toEqual([]);
});

it("the generator writes all files, and the same content again", async () => {
  expect((await generate("--into", folder)).said.split("\n").filter(Boolean)).toHaveLength(6);
  expect(await generate("--into", folder)).toEqual({ code: 0, said: "" });
  await appendFile(join(folder, ".env.example"), "X=1\n");
  expect(await generate("--into", folder, "--check")).toEqual({
    code: 1,
    said: ".env.example is out of date: run npm run generate\n",
  });
});

it("the generator documents every setting, and the example sets none", async () => {
  const page = await readFile(join(folder, "docs/reference/configuration.md"), "utf8");
  const example = await readFile(join(folder, ".env.example"), "utf8");
  for (const { env, description } of listSettings()) {
    expect(page).toContain(`| \`${env}\` |`);
    expect(page).toContain(description);
    expect(example).toMatch(new RegExp(`^# ${env}=`, "m"));
    expect(description.length).toBeGreaterThan(15);
  }
  expect(example.replace(/X=1\n/, "").match(/^[^#\n]/m)).toBeNull();
});
