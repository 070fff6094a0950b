import { expect, test } from "vitest";
import { readField } from "./read-field.ts";

test("a field of a value of any shape is read without its prototype", () => {
  expect(readField({ a: { b: 1 } }, "a", "b")).toBe(1);
  expect(readField({ a: null }, "a")).toBeUndefined();
  expect(readField({}, "constructor")).toBeUndefined();
  expect(readField("text", "length")).toBeUndefined();
});
