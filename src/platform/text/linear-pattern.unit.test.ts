import { describe, expect, test } from "vitest";
import { growsLinearly } from "../../../test/cpu-time.ts";
import { compileLinearPattern } from "./linear-pattern.ts";

const matches = (expression: string, text: string) => {
  const pattern = compileLinearPattern(expression);
  if ("refused" in pattern) throw new Error(pattern.refused);
  return pattern.test(text);
};

describe("a regular expression of a client", () => {
  test.each([
    ["^\\d+$", "123", true],
    ["^ol[aá]$", "OLÁ", true],
    ["\\p{L}+ \\/start", "é /start", true],
    ["(?<word>hi|oi)", "oi", true],
    ["(?<=a)b", "ab", true],
    ["\\u{1F600}", "😀", true],
    ["^a", "ba", false],
  ])("tests %j on %j: %j", (expression, text, expected) => expect(matches(expression, text)).toBe(expected));

  test.each([
    ["(", "missing closing"],
    ["(?=a)b", "(?="],
    ["a(?!b)", "(?!"],
    ["(a)\\1", "\\1"],
    ["((a{100}){100}){100}", "repeat"],
    ["a{1,1000}b{1,1000}", "too large"],
  ])("is refused with a reason: %j", (expression, reason) => {
    expect(compileLinearPattern(expression)).toEqual({ refused: expect.stringContaining(reason) });
  });

  test.each([
    "^(a+)+$",
    "(a|a)*$",
    "(.*)*$",
    "(a|b|ab)*bc",
    `${"(x?)".repeat(80)}${"x".repeat(80)}`,
    "\\p{L}{500}!",
  ])("takes a time that grows with the text: %j", async (expression) => {
    for (const unit of ["a", "x", "ab", "é"]) {
      const text = (size: number) => `${unit.repeat(size / unit.length)}!`;
      expect(await growsLinearly(2_000, (size) => matches(expression, text(size)))).toBe(true);
    }
  });
});
