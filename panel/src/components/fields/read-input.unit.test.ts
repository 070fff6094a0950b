import { expect, test } from "vitest";
import { readTrialEnd } from "../../pages/administration/administration-search.ts";
import { numberParam } from "../../shell/number-param.ts";
import { readId, readLimit, readOneOf, readText } from "./read-search.ts";

test("a URL parameter is read as a number only if it is a positive integer", () => {
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

test("a URL parameter is read as a text only if it is short and not empty", () => {
  expect([readText(" Ana "), readText(42), readText(""), readText("x".repeat(101)), readText({})]).toEqual([
    "Ana",
    "42",
    undefined,
    undefined,
    undefined,
  ]);
});

test("a URL parameter is read as a value only if the list contains it", () => {
  expect([readOneOf(["a", "b"], "b"), readOneOf(["a", "b"], "c")]).toEqual(["b", undefined]);
});

test("an empty field means no limit, and digits are read as a number", () => {
  expect([readLimit(undefined), readLimit("  "), readLimit(" 30 "), readLimit("0")]).toEqual([
    null,
    null,
    30,
    0,
  ]);
});

test("any other text is never read as no limit", () => {
  expect([readLimit("ten"), readLimit("-1"), readLimit("1.5")]).toEqual(["ten", "-1", "1.5"]);
});

const { parse, stringify } = numberParam("webhookId").params;

test("a positive integer is accepted as a route parameter", () => {
  expect(parse({ webhookId: "12" })).toEqual({ webhookId: 12 });
  expect(stringify({ webhookId: 12 })).toEqual({ webhookId: "12" });
});

test.each(["abc", "0", "-1", "1.5", "1e3", "0x10", " 7", "NaN", "99999999999999999999"])(
  "an address with %s for a number has no page",
  (webhookId) => {
    expect(() => parse({ webhookId })).toThrow(expect.objectContaining({ isNotFound: true }));
  },
);

test("a trial ends with the last second of the day in local time", () => {
  const end = new Date(readTrialEnd("2027-01-31"));
  expect([end.getFullYear(), end.getMonth(), end.getDate(), end.getHours(), end.getSeconds()]).toEqual([
    2027, 0, 31, 23, 59,
  ]);
});

test("a text that is no date goes to the gateway unchanged", () => {
  expect([readTrialEnd("tomorrow"), readTrialEnd("2027-99-99")]).toEqual(["tomorrow", "2027-99-99"]);
});
