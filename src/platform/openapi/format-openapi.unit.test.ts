import { expect, test } from "vitest";
import { formatOpenApi } from "./format-openapi.ts";

test("an OpenAPI document is printed with small objects on one line and large ones on several", () => {
  const words = Array.from({ length: 48 }, (_, nth) => `word number ${nth}`);
  expect(formatOpenApi({ info: { title: "Waygate", tags: ["a", "b"], none: {} }, words })).toBe(
    `{\n\t"info": {"title":"Waygate","tags":["a","b"],"none":{}},\n\t"words": [\n${words
      .map((word) => `\t\t"${word}"`)
      .join(",\n")}\n\t]\n}\n`,
  );
});

test("an example of any length is printed on one line", () => {
  const example = { data: "x".repeat(800) };
  expect(formatOpenApi({ example })).toBe(`{\n\t"example": ${JSON.stringify(example)}\n}\n`);
});

test("a printed OpenAPI document is the same JSON", () => {
  const document = {
    text: 'a "quoted" ä\n',
    list: [1, null, true, [{}], []],
    long: "x".repeat(800),
    absent: undefined,
  };
  expect(JSON.parse(formatOpenApi(document))).toEqual(document);
});
