import { randomBytes } from "node:crypto";
import { onTestFailed } from "vitest";
import { type Random, seededRandom } from "./seeded-random.ts";

/** Random values for the running test. A failure prints the seed, which `WAYGATE_TEST_SEED` repeats. */
export function drawFromSeed(): Random {
  const seed = process.env.WAYGATE_TEST_SEED ?? randomBytes(4).toString("hex");
  onTestFailed(
    () => void process.stdout.write(`WAYGATE_TEST_SEED=${seed} repeats the chance of this test.\n`),
  );
  return seededRandom(seed);
}
