import { expect, test } from "vitest";
import { readId, readOneOf, readText } from "./read-search.ts";

test("an address gives a number only if it is whole and from 1", () => {
  expect([readId(7), readId("7"), readId(0), readId(-1), readId(1.5), readId("x"), readId(2 ** 60)]).toEqual([
    7,
    7,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("an address gives a text only if it is short and not empty", () => {
  expect([readText(" Ana "), readText(42), readText(""), readText("x".repeat(101)), readText({})]).toEqual([
    "Ana",
    "42",
    undefined,
    undefined,
    undefined,
  ]);
});

test("an address gives a word only if the list knows it", () => {
  expect([readOneOf(["a", "b"], "b"), readOneOf(["a", "b"], "c")]).toEqual(["b", undefined]);
});
