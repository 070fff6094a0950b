import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import { makeScratchDir } from "../../../test/run/scratch-dir.ts";
import { type Served, serveFeature } from "../../../test/serve-feature.ts";
import { BLOCKER_KEYS } from "../../core/health/find-blockers.ts";
import { CompressedCopies } from "../../platform/http/cached/compressed-copies.ts";
import { packageRoot } from "../../platform/package-version.ts";
import { publicPagesContract } from "./contract.ts";
import { textHandlers } from "./text-handlers.ts";

const scratch = await makeScratchDir();
const { privacy, terms, productionReadiness } = publicPagesContract;
let served: Served;

afterEach(() => served.close());
afterAll(() => scratch.remove());

async function read(path: string, { root = packageRoot(), accept = "*/*" } = {}) {
  const folders = { dataDir: join(scratch.path, "data"), packageRoot: root };
  const contract = { privacy, terms, productionReadiness };
  served = await serveFeature(contract, textHandlers(folders, new CompressedCopies()), async () => ({
    kind: "public",
  }));
  const { status, headers, body } = await served.request(`GET ${path}`, undefined, { accept });
  const [type, vary] = [headers.get("content-type"), headers.get("vary")];
  return { status, type, vary, text: Buffer.from(body).toString() };
}

const MARKDOWN = "text/markdown; charset=utf-8";
const HTML = "text/html; charset=utf-8";

it("the gateway's default policy is Markdown", async () => {
  const { status, type, text } = await read("/privacy");
  expect([status, type]).toEqual([200, MARKDOWN]);
  expect(text).toMatch(/^# Privacy policy/);
});

it("the page on production readiness explains every blocker of /health", async () => {
  const { status, type, text } = await read("/docs/production-readiness.md");
  expect([status, type]).toEqual([200, MARKDOWN]);
  const keys = [...BLOCKER_KEYS, "weak_secret", "no_backup_key", "operator_only"];
  expect(keys.filter((key) => !text.includes(`\`${key}\``))).toEqual([]);
});

it("a gateway without any policy has a page that says so", async () => {
  const { status, type, text } = await read("/privacy", { root: scratch.path });
  expect([status, type]).toEqual([200, HTML]);
  expect(text).toContain("has not published this text yet");
});

it("the terms are a page, and the operator's own text replaces the default", async () => {
  expect(await read("/terms")).toMatchObject({ status: 200, type: HTML });
  await served.close();
  await mkdir(join(scratch.path, "data"), { recursive: true });
  await writeFile(join(scratch.path, "data", "terms.md"), "# Our *own* terms\n<script>alert(1)</script>");
  const { text } = await read("/terms");
  expect(text).toContain("Our <em>own</em> terms");
  expect(text).not.toContain("<script>");
});

it.each(["/privacy", "/docs/production-readiness.md"])("%s returns a page to a browser", async (path) => {
  const { type, vary, text } = await read(path, { accept: "text/html,*/*;q=0.8" });
  expect([type, vary]).toEqual([HTML, "accept, accept-encoding"]);
  expect(text).toMatch(/<nav class="pages".* aria-current="page".*<h1 /s);
});
