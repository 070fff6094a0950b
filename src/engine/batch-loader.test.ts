import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { createTestDatabase } from "../../test/database.ts";
import { createGate } from "../../test/gate.ts";
import { createBatchLoader } from "./batch-loader.ts";

describe("a batch loader on the database", async () => {
  const { database, drop } = await createTestDatabase();
  afterAll(drop);

  it("reads concurrent keys in one statement and gives each caller its own value", async () => {
    const batches: string[][] = [];
    const loader = createBatchLoader<string, number | undefined>({
      async load(words) {
        batches.push(words);
        const { rows } = await database.pool.query(
          "select word, length(word) as length from unnest($1::text[]) word where word <> 'none'",
          [words],
        );
        const lengths = new Map(rows.map(({ word, length }) => [word, length]));
        return words.map((word) => lengths.get(word));
      },
    });
    expect(await Promise.all(["abc", "none", "a", "abc"].map((word) => loader.load(word)))).toEqual([
      3,
      undefined,
      1,
      3,
    ]);
    expect(batches).toEqual([["abc", "none", "a", "abc"]]);
    const results = await Promise.allSettled(["ab", "ba\0d"].map((word) => loader.load(word)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  it("reads a key again that is requested while an earlier read of it is in progress", async () => {
    const gate = createGate();
    let reads = 0;
    const loader = createBatchLoader<number, number>({
      async load(keys) {
        reads += 1;
        const read = reads;
        await gate.opened;
        return keys.map(() => read);
      },
    });
    const first = loader.load(1);
    await nextTurn();
    const second = loader.load(1);
    gate.open();
    expect(await Promise.all([first, second])).toEqual([1, 2]);
  });
});
