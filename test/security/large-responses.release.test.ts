import { beforeAll, expect, test } from "vitest";
import { buildDist } from "../run/build-dist.ts";
import { measureLargeResponses } from "./large-responses.ts";

beforeAll(buildDist);

const FILE_BYTES = 20 * 1024 * 1024;

test("parallel downloads in base64 use a bounded part of memory, whatever the size of the files", {
  timeout: 120_000,
}, async () => {
  const figures = await measureLargeResponses({ downloads: 8, fileBytes: FILE_BYTES });
  expect(figures.response_mb).toBeGreaterThan(200);
  // Built in memory, each response would use four times its file: 640 MB.
  expect(figures.memory_most_mb - figures.memory_before_mb).toBeLessThan(150);
});
