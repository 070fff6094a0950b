import { expect, test } from "vitest";
import { readPages } from "./read-pages.ts";

/** A list of the given number of rows, in pages; the cursor is the first row of the next page. */
function listOf(rows: number) {
  const asked: (string | undefined)[] = [];
  const list = async ({ limit, cursor }: { limit: number; cursor: string | undefined }) => {
    asked.push(cursor);
    const from = Number(cursor ?? 0);
    const until = Math.min(rows, from + limit);
    const has_more = until < rows;
    const data = Array.from({ length: until - from }, (_, index) => from + index);
    return { data, pagination: { has_more, next_cursor: has_more ? String(until) : null } };
  };
  return { asked, list };
}

test.each([
  [0, 1],
  [200, 1],
  [201, 2],
  [5000, 25],
])("a read of all pages returns %i rows with %i requests", async (rows, questions) => {
  const { asked, list } = listOf(rows);
  const steps: string[] = [];
  const { data, pagination } = await readPages(list, (step) => steps.push(step));
  expect(data).toEqual(Array.from({ length: rows }, (_, index) => index));
  expect(pagination).toEqual({ has_more: false, next_cursor: null });
  expect(asked).toHaveLength(questions);
  expect(steps).toHaveLength(questions - 1);
});

test("a read of all pages reports that a list is too long", async () => {
  const { data, pagination } = await readPages(listOf(5001).list, () => {});
  expect(data).toHaveLength(5000);
  expect(pagination).toEqual({ has_more: true, next_cursor: "5000" });
});

test("a read of all pages ends after about a million characters", async () => {
  const text = "x".repeat(3_000);
  const { list } = listOf(5000);
  const { data, pagination } = await readPages(
    async (page) => ({ ...(await list(page)), data: Array.from({ length: page.limit }, () => text) }),
    () => {},
  );
  expect(data).toHaveLength(400);
  expect(pagination).toEqual({ has_more: true, next_cursor: "400" });
});
