import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { buildDist } from "../../test/run/build-dist.ts";

beforeAll(buildDist);

const MODULE = new URL("../../dist/src/platform/release-memory-when-idle.js", import.meta.url);
const MB = 2 ** 20;

/** Holds much for a while, and is then idle until most of it is given back or ten seconds are over. */
const PROGRAM = `
  import { getHeapStatistics } from "node:v8";
  import { releaseMemoryWhenIdle } from "${MODULE}";
  const heap = () => getHeapStatistics().total_heap_size;
  const first = heap();
  let kept = [];
  for (let i = 0; i < 600_000; i++) kept.push({ text: "entry " + i, list: [i, i + 1, i + 2] });
  const busy = heap();
  kept = [];
  releaseMemoryWhenIdle(100);
  const giveUpAt = performance.now() + 10_000;
  while (heap() > first + 50 * ${MB} && performance.now() < giveUpAt)
    await new Promise((resolve) => setTimeout(resolve, 50));
  console.log(JSON.stringify({ more: busy - first, left: heap() - first }));`;

test("an idle process gives back the memory that it no longer needs", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM]);
  const { more, left } = JSON.parse(stdout);
  // V8 keeps its young generation, of 32 MB on Node 20.
  expect(more).toBeGreaterThan(90 * MB);
  expect(left).toBeLessThan(50 * MB);
});
