import { expect, test } from "vitest";
import { parseTimestamp } from "./stanza.ts";

test("a timestamp of the network is in seconds", () => {
  expect(parseTimestamp("1763640000")).toEqual(new Date("2025-11-20T12:00:00.000Z"));
});

test.each([undefined, "", "0", "-5", "soon", "253402300800", "9e99"])(
  "a timestamp that is missing, no number or after the year 9999 counts as now: %s",
  (seconds) => {
    const before = Date.now();
    const at = parseTimestamp(seconds).getTime();
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  },
);
