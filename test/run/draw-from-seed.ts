import { randomBytes } from "node:crypto";
import { onTestFailed } from "vitest";
import { type Random, seededRandom } from "./seeded-random.ts";

/** Chance for the running test. If that fails, it prints the seed, with which `WAYGATE_TEST_SEED` repeats it. */
export function drawFromSeed(): Random {
  const seed = process.env.WAYGATE_TEST_SEED ?? randomBytes(4).toString("hex");
  onTestFailed(
    () => void process.stdout.write(`WAYGATE_TEST_SEED=${seed} repeats the chance of this test.\n`),
  );
  return seededRandom(seed);
}
