import { expect, test } from "vitest";
import { findJsonSyntaxError } from "./json-syntax-error.ts";

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
