import type { ChaosRow, RoundFigures } from "./chaos-row.ts";

/** A row with what its rounds have counted. */
export interface RowReport extends Pick<ChaosRow, "id" | "fault"> {
  rounds: (RoundFigures & { seconds: number })[];
  /** Why it was not run. */
  skipped?: string;
}

type Verdict = "pass" | "pass, but for times that were not judged" | "FAIL" | `skipped: ${string}`;

const COUNTS = {
  kills: "kills",
  sends: "sends",
  events: "events",
  lost: "lost",
  unexpected: "unexpected",
  duplicateDeliveries: "duplicate deliveries",
  repeatedIds: "repeated ids",
  differentIds: "different ids",
  orderViolations: "order violations",
} as const;

const TAKE_OVER_SECONDS = 15;

export function verdictOf({ rounds, skipped }: RowReport): Verdict {
  if (skipped !== undefined) return `skipped: ${skipped}`;
  if (rounds.some((round) => brokenBars(round).length > 0)) return "FAIL";
  const areJudged = rounds.every(({ notJudged }) => notJudged === undefined);
  return areJudged ? "pass" : "pass, but for times that were not judged";
}

/** Every bar that a round broke, those of time too. */
export function brokenBars({ breaches, takeOverSeconds = 0, times = [] }: RoundFigures): string[] {
  const takeOver = { what: "take-over", seconds: takeOverSeconds, bar: TAKE_OVER_SECONDS };
  const late = [takeOver, ...times].filter(({ seconds, bar }) => seconds > bar);
  return [
    ...breaches,
    ...late.map(({ what, seconds, bar }) => `${what}: ${seconds.toFixed(1)} s where ${bar} s may be`),
  ];
}

/** The figures of all rows as a table in Markdown, each summed over its rounds; what was not counted shows a dash. */
export function toTable(reports: readonly RowReport[]): string {
  const heads = ["row", "fault", "rounds", ...Object.values(COUNTS), "worst take-over (s)", "verdict"];
  const lines = reports.map((report) => {
    const { id, fault, rounds } = report;
    const counts = Object.keys(COUNTS).map((name) =>
      sum(rounds.map((one) => one[name as keyof typeof COUNTS])),
    );
    const worst = highest(rounds.map((one) => one.takeOverSeconds));
    return [id, fault, rounds.length, ...counts, worst, verdictOf(report)];
  });
  return [heads, heads.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** What else the rows have measured, and which bars were broken; one line each. */
export function toRemarks(reports: readonly RowReport[]): string[] {
  return reports.flatMap(({ id, rounds }) =>
    rounds.flatMap((round, index) => {
      const { measured = {}, times = [], notJudged } = round;
      const remarks = [
        ...(notJudged === undefined ? [] : [`NOT JUDGED: ${notJudged}`]),
        ...times.map(({ what, seconds, bar }) => `${what}: ${seconds.toFixed(1)} s (at most ${bar})`),
        ...Object.entries(measured).map(([name, value]) => `${name}: ${value}`),
        ...brokenBars(round).map((bar) => `BROKEN: ${bar}`),
      ];
      return remarks.map((remark) => `- ${id}, round ${index + 1}: ${remark}`);
    }),
  );
}

function sum(counts: readonly (number | undefined)[]): string {
  const counted = counts.filter((count) => count !== undefined);
  return counted.length === 0 ? "-" : String(counted.reduce((total, count) => total + count, 0));
}

function highest(values: readonly (number | undefined)[]): string {
  const counted = values.filter((value) => value !== undefined);
  return counted.length === 0 ? "-" : Math.max(...counted).toFixed(1);
}
