import { beforeAll, expect, inject, test } from "vitest";
import { buildDist } from "../build-dist.ts";
import { runRound } from "../chaos/rounds.ts";
import { n3 } from "../chaos/rows/n3-three-nodes.ts";

beforeAll(buildDist);

test("any of three nodes responds, a stream on any receives all events, and a killed one is replaced", {
  timeout: 900_000,
}, async () => {
  const seed = String(Math.random());
  const { breaches } = await runRound(n3, { seed, databaseUrl: inject("databaseUrl") });
  expect(breaches.join("\n"), `seed ${seed}`).toBe("");
});
