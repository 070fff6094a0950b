import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { buildDist } from "../../test/run/build-dist.ts";

beforeAll(buildDist);

const MODULE = new URL("../../dist/src/platform/with-small-young-generation.js", import.meta.url);
const MB = 2 ** 20;

/** A program that keeps what it allocates, like one that loads modules. */
const PROGRAM = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { withSmallYoungGeneration } from "${MODULE}";
  const kept = [];
  const allocate = async () => {
    for (let i = 0; i < 400_000; i++) kept.push({ text: "entry " + i, list: [i, i + 1, i + 2] });
    return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size;
  };
  const during = await withSmallYoungGeneration(allocate);
  const after = await allocate();
  const failed = await withSmallYoungGeneration(() => Promise.reject(new Error("not started"))).catch(String);
  console.log(JSON.stringify({ during, after, failed }));`;

test("the young generation stays small during the work, and grows after it", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM]);
  const { during, after, failed } = JSON.parse(stdout);
  expect(during).toBeLessThan(4 * MB);
  expect(after).toBeGreaterThan(8 * MB);
  expect(failed).toBe("Error: not started");
});

const IDLE_MODULE = new URL("../../dist/src/platform/release-memory-when-idle.js", import.meta.url);

/** Holds much memory for a while, and is then idle until most of it is returned. */
const IDLE_PROGRAM = `
  import { getHeapStatistics } from "node:v8";
  import { releaseMemoryWhenIdle } from "${IDLE_MODULE}";
  const heap = () => getHeapStatistics().total_heap_size;
  const first = heap();
  let kept = [];
  for (let i = 0; i < 600_000; i++) kept.push({ text: "entry " + i, list: [i, i + 1, i + 2] });
  const busy = heap();
  kept = [];
  releaseMemoryWhenIdle(100);
  // V8 keeps its young generation, which has 32 MB on Node 20.
  while (heap() > first + 50 * ${MB}) await new Promise((resolve) => setTimeout(resolve, 50));
  console.log(busy - first);`;

test("an idle process gives back the memory that it no longer needs", async () => {
  // Without V8's own idle collections, it ends only after that of the gateway.
  const args = ["--no-memory-reducer", "--input-type=module", "-e", IDLE_PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 120_000 });
  expect(Number(stdout)).toBeGreaterThan(90 * MB);
});
