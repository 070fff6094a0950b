import { beforeAll, describe, expect, inject, test } from "vitest";
import { runRound } from "../chaos/chaos-row.ts";
import { f1, f2, f4 } from "../chaos/rows/f01-to-f04.ts";
import { f5 } from "../chaos/rows/f05-campaigns.ts";
import { buildDist } from "../run/build-dist.ts";

beforeAll(buildDist);

/** One round of each row of `npm run chaos`. Rows mostly wait, so they run concurrently. */
describe.concurrent("a round of the fault matrix", () => {
  test.each([f1, f2, f4, f5])("breaks no promise: $id, $fault", { timeout: 900_000 }, async (row) => {
    const seed = String(Math.random());
    const { breaches } = await runRound(row, { seed, databaseUrl: inject("databaseUrl") });
    expect(breaches.join("\n"), `seed ${seed}`).toBe("");
  });
});
