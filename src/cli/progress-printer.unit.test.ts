import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startProgressPrinter } from "./progress-printer.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

test("a progress printer reports long work every few seconds, and prints nothing for short work", () => {
  const lines: string[] = [];
  const progress = startProgressPrinter((line) => lines.push(line));
  progress.advanceBy(500, "rows");
  vi.advanceTimersByTime(2_999);
  progress.advanceBy(500, "rows");
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(1);
  progress.advanceBy(500, "rows");
  progress.advanceBy(500, "rows");
  vi.advanceTimersByTime(3_000);
  progress.advanceTo(7, "links");
  expect(lines).toEqual(["... 1500 rows", "... 7 links"]);
});
