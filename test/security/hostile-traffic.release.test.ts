import { beforeAll, expect, test } from "vitest";
import { buildDist } from "../run/build-dist.ts";
import { type AttackFigures, measureHostileTraffic } from "./hostile-traffic.ts";
import { isFullRun, printFigures } from "./run-size.ts";

beforeAll(buildDist);

const CUT = { connections: 150, bombs: 8, rounds: 3, maxRequests: 100 };
const FULL = { connections: 2_500, bombs: 80, rounds: 250 };
/** The memory that one attack may use: its bodies at once, each as bytes, text and values. */
const MOST_RISE_MB = 400;
/** The memory that all attacks together may use: Node keeps part of its heap from one for the next. */
const MOST_RISE_OF_ALL_MB = 800;

test("slow connections and bombs in bodies, headers and forms block no client and use bounded memory", {
  timeout: 1_200_000,
}, async () => {
  const figures = await measureHostileTraffic(isFullRun ? FULL : CUT);
  printFigures("Hostile traffic", figures);
  const first = figures[0]?.memory_before_mb ?? 0;
  expect(figures.filter((one) => one.memory_most_mb - one.memory_before_mb > MOST_RISE_MB)).toEqual([]);
  expect(figures.filter((one) => one.memory_most_mb - first > MOST_RISE_OF_ALL_MB)).toEqual([]);
  expect(figures.filter((one) => !isServed(one))).toEqual([]);
  for (const attack of ["a body in chunks of one byte", "a sign-in without a length"]) {
    const refused = figures.find((one) => one.attack === attack);
    expect(refused?.statuses).toEqual({ 400: refused?.size });
  }
  expect(figures.flatMap(({ attack, statuses }) => (statuses[500] ? [attack] : []))).toEqual([]);
});

function isServed({ health, sends }: AttackFigures): boolean {
  return Object.keys(health).join() === "200" && Object.keys(sends).join() === "200";
}
