import { expect, test } from "vitest";
import { numberParam } from "./number-param.ts";

const { parse, stringify } = numberParam("webhookId").params;

test("a whole number from 1 in an address is the number of a page", () => {
  expect(parse({ webhookId: "12" })).toEqual({ webhookId: 12 });
  expect(stringify({ webhookId: 12 })).toEqual({ webhookId: "12" });
});

test.each(["abc", "0", "-1", "1.5", "1e3", "0x10", " 7", "NaN", "99999999999999999999"])(
  "an address with %s for a number has no page",
  (webhookId) => {
    expect(() => parse({ webhookId })).toThrow(expect.objectContaining({ isNotFound: true }));
  },
);
