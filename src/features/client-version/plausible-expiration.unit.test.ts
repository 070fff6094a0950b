import { describe, expect, test } from "vitest";
import { plausibleExpiration } from "./plausible-expiration.ts";
import { findDueWarning } from "./warn-of-expiration.ts";

const NOW = Date.UTC(2026, 10, 28);
const inDays = (days: number) => new Date(NOW + days * 86_400_000);

describe("the announced end of a client version", () => {
  test.each([
    ["is kept if it is in ten days", inDays(10), inDays(10)],
    ["counts as three days if it is tomorrow", inDays(1), inDays(3)],
    ["counts as three days if it is over", inDays(-400), inDays(3)],
    ["is ignored if it is in 2106", new Date(4_294_967_295_000), undefined],
    ["is ignored if it is the beginning of time", new Date(0), undefined],
    ["is ignored if it is no time", new Date(Number.NaN), undefined],
  ])("%s", (_what, announced, stored) => {
    expect(plausibleExpiration(announced, NOW)).toEqual(stored);
  });

  test.each([
    [15, undefined],
    [14, 14],
    [8, 14],
    [7, 7],
    [2.5, 3],
    [0.5, 1],
    [-1, 1],
  ])("in %s days asks for the warning of %s days", (days, warning) => {
    expect(findDueWarning(inDays(days), NOW)).toBe(warning);
  });
});
