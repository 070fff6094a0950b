import { checkLedgers } from "../e2e/checker.ts";
import type { Ledgers } from "../e2e/ledgers.ts";
import type { ChaosRow, RoundFigures } from "./chaos-row.ts";

/** The maximum work in progress when something is killed. */
export interface InFlight {
  /** Kills of a process, of the database, or of the connection to the network. */
  kills: number;
  /** Concurrent sends of a session. */
  sends: number;
  /** Concurrent deliveries of all webhooks. */
  deliveries: number;
}

/** Concurrency of one session and one webhook. */
export const IN_FLIGHT = { sends: 16, deliveries: 4 } as const;

/** Turns the findings into figures, with every limit of docs/reliability/reliability.md that they violate. */
export function toRoundFigures(ledgers: Ledgers, { kills, sends, deliveries }: InFlight): RoundFigures {
  const found = checkLedgers(ledgers);
  const { duplicateDeliveries, repeatedIds, unloggedTries, inventedTries } = found;
  return {
    kills,
    sends: ledgers.sends.filter(({ known }) => known === "ok").length,
    events: ledgers.events.length,
    lost: found.lostEvents.length + found.lostSends.length,
    unexpected: found.unexpected.length + found.repeatedEffects.length + found.untrue.length,
    duplicateDeliveries,
    repeatedIds,
    differentIds: found.differentIds.length,
    orderViolations: found.outOfOrder.length,
    breaches: [
      ...atMost(0, "lost events", found.lostEvents),
      ...atMost(0, "lost sends", found.lostSends),
      ...atMost(0, "events given up", found.givenUp),
      ...atMost(0, "sends that failed", found.failedSends),
      ...atMost(0, "unexpected", found.unexpected),
      ...atMost(0, "effects that came twice", found.repeatedEffects),
      ...atMost(0, "outcomes that are not true", found.untrue),
      ...atMost(0, "different ids of a send", found.differentIds),
      ...atMost(0, "out of order", found.outOfOrder),
      ...atMost(deliveries * kills, "duplicate deliveries", duplicateDeliveries),
      ...atMost(sends * kills, "repeated ids", repeatedIds),
      ...atMost(deliveries * kills, "tries that no log knows", unloggedTries),
      ...atMost(0, "logged responses that no receiver sent", inventedTries),
    ],
  };
}

/** A sentence if the count exceeds the limit. */
export function atMost(bar: number, what: string, found: number | readonly unknown[]): string[] {
  const count = typeof found === "number" ? found : found.length;
  if (count <= bar) return [];
  const names = typeof found === "number" ? "" : `: ${found.slice(0, 5).join(", ")}`;
  return [`${what}: ${count} where ${bar} may be${names}`];
}

/** Sums the figures of several parts. */
export function addUp(parts: readonly RoundFigures[]): RoundFigures {
  const total = (name: keyof RoundFigures) => {
    const counts = parts.map((part) => part[name]).filter((count) => typeof count === "number");
    return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
  };
  const takeOvers = parts.flatMap(({ takeOverSeconds }) => takeOverSeconds ?? []);
  return {
    kills: total("kills"),
    sends: total("sends"),
    events: total("events"),
    lost: total("lost"),
    unexpected: total("unexpected"),
    duplicateDeliveries: total("duplicateDeliveries"),
    repeatedIds: total("repeatedIds"),
    differentIds: total("differentIds"),
    orderViolations: total("orderViolations"),
    takeOverSeconds: takeOvers.length === 0 ? undefined : Math.max(...takeOvers),
    times: parts.flatMap(({ times = [] }) => times),
    measured: Object.assign({}, ...parts.map(({ measured }) => measured)),
    notJudged: parts.find(({ notJudged }) => notJudged !== undefined)?.notJudged,
    breaches: parts.flatMap(({ breaches }) => breaches),
  };
}

/** A row with the figures of its rounds. */
export interface RowReport extends Pick<ChaosRow, "id" | "fault"> {
  rounds: (RoundFigures & { seconds: number })[];
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

/** Every violated limit, including those of time. */
export function brokenBars({ breaches, takeOverSeconds = 0, times = [] }: RoundFigures): string[] {
  const takeOver = { what: "take-over", seconds: takeOverSeconds, bar: TAKE_OVER_SECONDS };
  const late = [takeOver, ...times].filter(({ seconds, bar }) => seconds > bar);
  return [
    ...breaches,
    ...late.map(({ what, seconds, bar }) => `${what}: ${seconds.toFixed(1)} s where ${bar} s may be`),
  ];
}

/** A Markdown table of all rows, summed over their rounds. Figures that were not counted are dashes. */
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

/** Other measurements and violated limits, one line each. */
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
