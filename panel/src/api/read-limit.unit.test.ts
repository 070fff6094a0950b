import { expect, test } from "vitest";
import { readLimit } from "./read-search.ts";

test("an empty field is no limit, and a field with digits is their number", () => {
  expect([readLimit(undefined), readLimit("  "), readLimit(" 30 "), readLimit("0")]).toEqual([
    null,
    null,
    30,
    0,
  ]);
});

test("a field with anything else is never taken for no limit", () => {
  expect([readLimit("ten"), readLimit("-1"), readLimit("1.5")]).toEqual(["ten", "-1", "1.5"]);
});
