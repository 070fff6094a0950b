import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GUIDE } from "../src/features/public-pages/guide.ts";
import { OWNER, startTestGateway, type TestGateway } from "./gateway.ts";
import { makeScratchDir } from "./scratch-dir.ts";
import { ROOT } from "./source-files.ts";

const PAGES = ["README.md", ...GUIDE.map(({ slug }) => `docs/${slug}.md`)]
  .map((path) => ({ path, blocks: shellBlocksWithCurl(path) }))
  .filter(({ blocks }) => blocks.length > 0);

function shellBlocksWithCurl(path: string): string[] {
  const text = readFileSync(join(ROOT, path), "utf8");
  return [...text.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, block = ""]) => block)
    .filter((block) => /^\s*(\w+=\$\()?curl /m.test(block));
}

let gateway: TestGateway;
let token = "";
let folder: Awaited<ReturnType<typeof makeScratchDir>>;

beforeAll(async () => {
  [gateway, folder] = await Promise.all([startTestGateway(), makeScratchDir()]);
  ({ token } = await gateway.anonymous.login(OWNER));
  await writeFile(join(folder.path, "prices.pdf"), "%PDF-1.7\n");
});
afterAll(async () => {
  await gateway.stop();
  await folder.remove();
});

/** What a reader who pastes these lines gets, with the own instance in the place of that of the page. */
function paste(lines: string, { id, api_key }: { id: number; api_key: string }) {
  const own = lines
    .replaceAll("localhost:3000", gateway.url)
    .replaceAll("/instances/1", `/instances/${id}`)
    .replaceAll('"instance_id":1', `"instance_id":${id}`)
    .replaceAll('{"email":"owner@localhost","password":"..."}', JSON.stringify(OWNER));
  const script = `set -eo pipefail\ncurl() { command curl --fail-with-body "$@"; }\n${own}`;
  const env = { PATH: process.env.PATH, TOKEN: token, KEY: api_key };
  return new Promise<{ code: number; said: string }>((resolve) => {
    execFile("bash", ["--norc", "-c", script], { cwd: folder.path, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: `${own}\n${stdout}${stderr}` }),
    );
  });
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!hasCurl)(
  hasCurl ? "the commands of" : "the commands of the guides: skipped, no curl",
  () => {
    test.each(PAGES)("$path do what they say", async ({ blocks }) => {
      const isPairing = blocks.some((block) => block.includes("/sandbox/scan"));
      const instance = await (isPairing ? gateway.createInstance() : gateway.connectInstance());
      for (const block of blocks) {
        const { code, said } = await paste(block, instance);
        expect(code, said).toBe(0);
      }
    });
  },
);

test("every part of the guide that readers were promised is there", () => {
  const slugs: string[] = GUIDE.map(({ slug }) => slug);
  expect(slugs).toEqual(
    expect.arrayContaining([
      ...["quick-start", "pairing", "sending", "webhooks", "verifying-webhooks", "asynchronous-sends"],
      ...["campaigns", "integrations", "scaling", "migration"],
    ]),
  );
});
