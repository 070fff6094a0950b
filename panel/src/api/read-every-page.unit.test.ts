import { expect, test } from "vitest";
import { readEveryPage } from "./to-csv.ts";

/** A list of the numbers from 0, 200 a page. */
function listOf(total: number) {
  return async ({ limit, cursor = "0" }: { limit: number; cursor?: string }) => {
    const from = Number(cursor);
    const to = Math.min(total, from + limit);
    const data = Array.from({ length: to - from }, (_, at) => from + at);
    return { data, pagination: { next_cursor: to < total ? String(to) : null } };
  };
}

test("every page of a list is read, in its order", async () => {
  const { rows, isCut } = await readEveryPage(listOf(450));
  expect([rows.length, rows[0], rows[449], isCut]).toEqual([450, 0, 449, false]);
});

test("a list that is too long is cut, and says so", async () => {
  const { rows, isCut } = await readEveryPage(listOf(1_000), 400);
  expect([rows.length, isCut]).toEqual([400, true]);
});
