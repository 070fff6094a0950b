import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growsLinearly } from "../../../../test/cpu-time.ts";
import { GatewayError } from "../../gateway-error.ts";
import { readBase64File } from "./base64-file.ts";
import { findJsonSyntaxError } from "./json-syntax-error.ts";
import { parseFormBody } from "./parse-form-body.ts";
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

test.each([
  ['{"a":1,}', 1, 8],
  ['{"number":"5511","text":"Hi" "x":1}', 1, 30],
  ['{\n  "a": 1,\n  b: 2\n}', 3, 3],
  ["{'a':1}", 1, 2],
  ["[1,2", 1, 5],
  ['{"a":"x\ny"}', 1, 8],
  ['{"a":"\\x"}', 1, 8],
  ['{"a":"\\u12g4"}', 1, 8],
  ['{"a":undefined}', 1, 6],
  ['{"a":01}', 1, 7],
  ['{"a":1}}', 1, 8],
  ['{"a"}', 1, 5],
  ["", 1, 1],
  ["abc", 1, 1],
])("the syntax error of %j is at line %d, column %d", (text, line, column) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(findJsonSyntaxError(text)).toEqual({ line, column });
});

test("valid JSON has no syntax error", () => {
  const values = [
    '{"a":[1,-2.5e+3,{"b":null}],"c":"\\u00e9\\n\\"","d":{},"e":[]}',
    " true ",
    '"x"',
    "0",
    "[[],{}]",
  ];
  expect(values.map((text) => JSON.parse(text) !== undefined && findJsonSyntaxError(text))).toEqual(
    values.map(() => undefined),
  );
});

const parseForm = (text: string) => parseFormBody(Buffer.from(text));

test("a form gives its fields decoded, also those with special names", () => {
  expect(parseForm("a=1&b=x+y%20z&c=%C3%A7&d=&e")).toEqual({ a: "1", b: "x y z", c: "ç", d: "", e: "" });
  const special = parseForm("__proto__=x&constructor=y");
  expect(Object.entries(special)).toEqual([
    ["__proto__", "x"],
    ["constructor", "y"],
  ]);
  expect(Object.getPrototypeOf(special)).toBe(Object.prototype);
});

test("a form with a repeated field is refused, also if it is encoded in another way", () => {
  expect(() => parseForm("a=1&a=2")).toThrow("the field a more than once");
  expect(() => parseForm("state=1&st%61te=2")).toThrow("the field state more than once");
});

test("a form with too many fields is refused before they are decoded", () => {
  expect(() => parseForm("&".repeat(60_000))).toThrow("more than 1000 fields");
  expect(parseForm(Array.from({ length: 1_000 }, (_, index) => `a${index}=`).join("&"))).toHaveProperty(
    "a999",
    "",
  );
});

const read = (input: string, maxBytes = 1_048_576) => {
  const { mime_type, pieces } = readBase64File("file", input, maxBytes);
  return { mime_type, text: Buffer.concat([...pieces]).toString("utf8") };
};

describe("a file in base64", () => {
  test.each([
    ["ZG90", { mime_type: undefined, text: "dot" }],
    ["ZG90IQ==", { mime_type: undefined, text: "dot!" }],
    ["ZG\n90\r\n IQ", { mime_type: undefined, text: "dot!" }],
    ["data:image/png;base64,ZG90", { mime_type: "image/png", text: "dot" }],
    ["data:audio/ogg;codecs=opus;base64,ZG90", { mime_type: "audio/ogg", text: "dot" }],
    ["data:;base64,ZG90", { mime_type: "", text: "dot" }],
    ["", { mime_type: undefined, text: "" }],
  ])("%j is read", (input, expected) => expect(read(input)).toEqual(expected));

  test.each(["a*b", "data:image/png,dot", "data:image/png;base64", "ZG90I", "ZG90===", "=ZG90"])(
    "%j is refused",
    (input) => {
      expect(() => read(input)).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
    },
  );

  test("that is larger than allowed is refused", () => {
    expect(() => read("ZG90", 2)).toThrow(expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }));
  });

  test.each(["a", ";", "data:", "=", " ", "data:a;", "a="])(
    "is checked in a time that grows with its length where it is full of %j",
    async (unit) => {
      const isLinear = await growsLinearly(1_000_000, (size) =>
        expect(() => read(`data:${unit.repeat(size / unit.length)}*`)).toThrow(),
      );
      expect(isLinear).toBe(true);
    },
  );
});
