import { expect, test } from "vitest";
import { parseFormBody } from "./parse-form-body.ts";

const parse = (text: string) => parseFormBody(Buffer.from(text));

test("a form gives its fields decoded, also those with special names", () => {
  expect(parse("a=1&b=x+y%20z&c=%C3%A7&d=&e")).toEqual({ a: "1", b: "x y z", c: "ç", d: "", e: "" });
  const special = parse("__proto__=x&constructor=y");
  expect(Object.entries(special)).toEqual([
    ["__proto__", "x"],
    ["constructor", "y"],
  ]);
  expect(Object.getPrototypeOf(special)).toBe(Object.prototype);
});

test("a form with a repeated field is refused, also if it is encoded in another way", () => {
  expect(() => parse("a=1&a=2")).toThrow("the field a more than once");
  expect(() => parse("state=1&st%61te=2")).toThrow("the field state more than once");
});

test("a form with too many fields is refused before they are decoded", () => {
  expect(() => parse("&".repeat(60_000))).toThrow("more than 1000 fields");
  expect(parse(Array.from({ length: 1_000 }, (_, index) => `a${index}=`).join("&"))).toHaveProperty(
    "a999",
    "",
  );
});
