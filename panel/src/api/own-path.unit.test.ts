import { expect, test } from "vitest";
import { isOwnPath, toSignInSearch } from "./own-path.ts";

test("the sign-in leads back to the whole address of a page, with its filters", () => {
  expect(toSignInSearch("/crm?search=Ana&stage=Novo")).toEqual({ to: "/crm?search=Ana&stage=Novo" });
});

test("the sign-in needs no address to lead to the first page, nor for one of unusual length", () => {
  expect(toSignInSearch("/")).toEqual({});
  expect(toSignInSearch(`/crm?search=${"a".repeat(2_000)}`)).toEqual({});
});

test.each([
  "//evil.example",
  "/\\evil.example",
  "https://evil.example/",
  "javascript:alert(1)",
  "",
  7,
  undefined,
])("the sign-in does not lead to %j, which is no path of the panel", (to) => {
  expect(isOwnPath(to)).toBe(false);
});
