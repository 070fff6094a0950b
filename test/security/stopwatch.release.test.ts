import { beforeAll, expect, test } from "vitest";
import { contract } from "../../src/contract.ts";
import { buildDist } from "../build-dist.ts";
import { isFullRun, printFigures } from "./run-size.ts";
import { timeStrangers } from "./stopwatch.ts";

beforeAll(buildDist);

/** Ten times the measured figures: a busy machine lengthens them; a quadratic parser takes seconds. */
const MOST_LOOP_MS = 1_000;

test("no request of an unauthenticated client, to any route and with any content, blocks the event loop", {
  timeout: 1_200_000,
}, async () => {
  const figures = await timeStrangers({ everyAttack: isFullRun, tries: isFullRun ? 5 : 2 });
  printFigures("Requests of strangers", figures);
  expect(figures.routes).toBeGreaterThan(Object.keys(contract).length);
  expect(figures.slowest.filter(({ loop_ms }) => loop_ms > MOST_LOOP_MS)).toEqual([]);
  expect(figures.slowest.filter(({ status }) => status >= 500)).toEqual([]);
  expect(figures.memory_rise_mb).toBeLessThan(400);
});
