import { expect, test } from "vitest";
import { streamCsv } from "./stream-csv.ts";

test("a large file is made in small pieces from few rows at once, and only as far as it is read", async () => {
  const cell = "x".repeat(20_000);
  const asked: number[] = [];
  const file = streamCsv<number>(
    async () => ({ head: "cell\n", toLine: () => `${cell}\n` }),
    async (last = 0, limit) => {
      asked.push(limit);
      return Array.from({ length: Math.min(limit, 120 - last) }, (_, nth) => last + nth + 1);
    },
  );
  const pieces = file[Symbol.asyncIterator]();
  const first: string = (await pieces.next()).value;
  await new Promise(setImmediate);
  expect(asked).toHaveLength(1);
  let [length, longest] = [first.length, first.length];
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    length += next.value.length;
    longest = Math.max(longest, next.value.length);
  }
  expect(length).toBe("cell\n".length + 120 * 20_001);
  expect(longest).toBeLessThan(100_000);
  expect(Math.max(...asked)).toBeLessThanOrEqual(100);
  expect(asked).toHaveLength(3);
});
