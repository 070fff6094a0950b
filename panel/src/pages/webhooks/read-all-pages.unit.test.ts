import { expect, test } from "vitest";
import { readAllPages } from "./read-all-pages.ts";

test("an export has the rows of all pages, in their order", async () => {
  const asked: unknown[] = [];
  const { rows, isCut } = await readAllPages(async (cursor) => {
    asked.push(cursor);
    const isLast = "cursor" in cursor;
    return { data: isLast ? [3] : [1, 2], pagination: { next_cursor: isLast ? null : "next" } };
  });
  expect({ rows, isCut, asked }).toEqual({ rows: [1, 2, 3], isCut: false, asked: [{}, { cursor: "next" }] });
});

test("an export of an endless list ends at its limit, and says that it is cut", async () => {
  const data = new Array<number>(3_000).fill(1);
  const { rows, isCut } = await readAllPages(async () => ({ data, pagination: { next_cursor: "more" } }));
  expect({ count: rows.length, isCut }).toEqual({ count: 10_000, isCut: true });
});
