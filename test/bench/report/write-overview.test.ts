import { expect, test } from "vitest";
import { GOALS } from "./goals.ts";
import { describeReports } from "./write-overview.ts";
import type { StoredReport } from "./write-report.ts";

const figure = (median: number) => ({ median, least: median, most: median });

const REPORT: StoredReport = {
  scenario: "sends",
  title: "Sync texts",
  at: "2026-11-23T12:00:00.000Z",
  machine: { node: "v20.20.0", processors: "2 x one", memory_gib: 8 },
  options: { adapter: "waygate", seconds: 10, warmUpSeconds: 3, repetitions: 5, isShort: false },
  points: [
    { label: "1 session, 1 at once", runs: 5, figures: { p50_ms: figure(4.2) } },
    {
      label: "1 session, 10 at once, now",
      runs: 5,
      figures: { ratio_to_library: figure(0.4), p50_ms: figure(10), p99_ms: figure(39) },
    },
  ],
};

test("the overview says of each goal whether the report meets it", () => {
  const lines = describeReports([REPORT]).split("\n");
  expect(lines).toContain("| sends: 1 session, 1 at once | p50 ms | at most 5 | 4.2 | met |");
  expect(lines).toContain(
    "| sends: 1 session, 10 at once | ratio to library | at least 0.5 | 0.4 | missed |",
  );
  expect(lines).toContain("| sends: 1 session, 10 at once | p99 ms | at most 4 times p50 ms | 39 | met |");
  expect(lines).toContain(
    "| sends: 20 sessions, 40 at once | ratio to library | at least 0.6 |  | not measured |",
  );
  expect(lines).toContain("| [Sync texts](sends.md) | 2026-11-23 | v20.20.0, 2 x one | 5 |");
});

test("every goal has exactly one bound", () => {
  expect(GOALS.filter(({ least, most }) => (least === undefined) === (most === undefined))).toEqual([]);
});
