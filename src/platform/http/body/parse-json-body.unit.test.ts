import fc from "fast-check";
import { expect, test } from "vitest";
import { GatewayError } from "../../gateway-error.ts";
import { parseJsonBody } from "./parse-json-body.ts";

function parse(text: string): unknown {
  return parseJsonBody(Buffer.from(text));
}

const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, [n]]));

test("any JSON value is parsed unchanged", () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: "medium" }), (value) => {
      expect(parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("any bytes are either parsed as JSON or refused", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        parseJsonBody(Buffer.from(bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError);
      }
    }),
  );
});

test("an empty body is an empty object", () => {
  expect(parse("")).toEqual({});
});

test("brackets, commas and quotes inside texts are not counted", () => {
  const text = `${"[{,".repeat(300_000)}\\"`;
  expect(parse(JSON.stringify({ text }))).toEqual({ text });
});

test.each([
  ["65 levels", "[".repeat(65) + "]".repeat(65)],
  ["65 levels after an escaped quote", `["\\\\\\"", ${"[".repeat(64)}${"]".repeat(65)}`],
  ["half a million values", `[${"0,".repeat(500_000)}0]`],
  ["as many empty objects", `[${"{},".repeat(250_001)}0]`],
  ["an object of 1,001 fields", JSON.stringify([0, { a: fields(1_001) }])],
])("a body is refused before it is parsed: %s", (_what, text) => {
  expect(() => parse(text)).toThrow(/levels|values|fields/);
});

test("objects of 1,000 fields and longer lists are accepted", () => {
  const value = { a: fields(999), b: fields(1_000), c: Array(2_000).fill({}) };
  expect(parse(JSON.stringify([value, value]))).toEqual([value, value]);
});

test("a nesting of 64 levels is accepted", () => {
  expect(parse("[".repeat(64) + "]".repeat(64))).toBeDefined();
});
