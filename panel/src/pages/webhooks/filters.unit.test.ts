import { expect, test } from "vitest";
import { readAttemptFilter, readEventFilter, readPeriod } from "./filters.ts";

test("a filter in an address keeps what is valid", () => {
  const common = { event: "message.received", webhook: 3, from: "2026-01-31T12:00:00.000Z" };
  expect(readEventFilter({ ...common, webhook: "3", from: "2026-01-31T12:00Z", state: "failed" })).toEqual({
    ...common,
    state: "failed",
  });
  expect(readAttemptFilter({ ...common, result: "failed", status: 503 })).toEqual({
    ...common,
    result: "failed",
    status: 503,
  });
  expect(readPeriod({ period: "week" })).toEqual({ period: "week" });
});

test("a filter in an address ignores everything else", () => {
  const bad = {
    event: "<b>",
    webhook: -1,
    from: "yesterday",
    to: "x".repeat(99),
    state: 7,
    status: 42,
    result: {},
  };
  expect(readEventFilter(bad)).toEqual({});
  expect(readAttemptFilter(bad)).toEqual({});
  expect(readPeriod({ period: "year" })).toEqual({});
});
