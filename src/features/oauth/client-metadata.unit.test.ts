import { expect, test } from "vitest";
import { parseClientMetadata } from "./client-metadata.ts";

const redirect_uris = ["https://client.example/callback"];
const nameOf = (client_name: string) => parseClientMetadata({ redirect_uris, client_name }).name;

test.each([
  ["  Claude\n\tfor you ", "Claude for you"],
  ["Bank\u202eknaB", "Bank knaB"],
  ["a\u200bb\u0000c\u2028d", "a b c d"],
  ["", "An application without a name"],
  ["\u200b", "An application without a name"],
  ["Ação 日本語", "Ação 日本語"],
])("the name %j of an application is shown as %j", (given, shown) => {
  expect(nameOf(given)).toBe(shown);
});

test("a long name is cut without breaking a character, and a very long one is refused", () => {
  expect(nameOf("😀".repeat(90))).toBe("😀".repeat(80));
  expect(() => nameOf("x".repeat(501))).toThrow("client_name");
});

test.each([
  undefined,
  null,
  5,
  "text",
  [],
  {},
  { redirect_uris: {} },
  { redirect_uris: [1] },
  { redirect_uris: Array(21).fill(redirect_uris[0]) },
  { redirect_uris, client_name: 5 },
])("metadata like %j is refused", (value) => {
  expect(() => parseClientMetadata(value)).toThrow(/RFC 7591/);
});
