import { percentile } from "../process-figures.ts";
import type { GatewayProgram } from "./gateway-program.ts";
import type { GatewayProfile } from "./profile/gateway-profile.ts";

/** Its name says its unit; `ratio_...` compares with a limit that was measured in the same run. */
export type Figures = Record<string, number>;

export interface BenchOptions {
  adapter: string;
  program: GatewayProgram;
  seconds: number;
  warmUpSeconds: number;
  repetitions: number;
  /** Fewer and smaller points, for a run of a few minutes. */
  isShort: boolean;
  /** Takes what a profiled program has recorded during a load. */
  onProfile(profile: GatewayProfile): void;
}

/** One load, in a form that can be measured again and again. */
export interface MeasuredPoint {
  label: string;
  measure(): Promise<Figures>;
}

export interface Scenario {
  title: string;
  /** What the plot shows, and the limit beside it. */
  plot: { figure: string; limit?: string };
  /** Of a scenario whose runs take minutes. */
  mostRepetitions?: number;
  /** Why an older build cannot be measured, if it cannot. */
  presentOnly?: string;
  open(options: BenchOptions): Promise<OpenScenario>;
}

export interface OpenScenario {
  points: MeasuredPoint[];
  close(): Promise<void>;
}

/** Over all repetitions. */
export interface Spread {
  median: number;
  least: number;
  most: number;
}

export interface PointReport {
  label: string;
  /** That have ended well. */
  runs: number;
  figures: Record<string, Spread>;
  /** Of the last run, if it was profiled. */
  profile?: GatewayProfile;
}

/** What came of a scenario; `failures`: of single runs, in words. */
export interface ScenarioReport {
  points: PointReport[];
  failures: string[];
}

/** A point on one of the programs. */
interface Track {
  label: string;
  /** Of the point in its scenario, and of the program. */
  place: number;
  program: number;
  measure: MeasuredPoint["measure"];
  runs: Figures[];
  profile?: GatewayProfile;
}

/**
 * Repetitions take turns over the points and the programs, so that a slow minute of the machine meets all of them. With
 * two programs, the figures of the first one have the ratio of what the plot shows to the second.
 */
export async function runScenario(
  scenario: Scenario,
  options: Omit<BenchOptions, "program" | "onProfile">,
  programs: readonly GatewayProgram[],
): Promise<ScenarioReport> {
  const failures: string[] = [];
  const opened: OpenScenario[] = [];
  let latest: GatewayProfile | undefined;
  const onProfile = (profile: GatewayProfile): void => {
    latest = profile;
  };
  const tracks: Track[] = [];
  const repetitions = Math.min(options.repetitions, scenario.mostRepetitions ?? options.repetitions);
  try {
    for (const [index, program] of programs.entries()) {
      const one = await scenario.open({ ...options, program, onProfile });
      opened.push(one);
      const suffix = programs.length > 1 ? `, ${program.name}` : "";
      for (const [place, { label, measure }] of one.points.entries())
        tracks.push({ label: `${label}${suffix}`, place, program: index, measure, runs: [] });
    }
    for (let n = 0; n < repetitions; n++) {
      for (const track of inTurns(tracks, n)) {
        latest = undefined;
        await runOnce(track, `run ${n + 1} of ${repetitions}`, failures);
        track.profile = latest ?? track.profile;
      }
    }
  } finally {
    for (const { close } of opened.toReversed())
      await close().catch((error: unknown) => failures.push(`The end of the scenario: ${error}`));
  }
  addRatios(tracks, programs, scenario.plot.figure);
  const points = inTurns(tracks, 0)
    .filter(({ runs }) => runs.length > 0)
    .map(({ label, runs, profile }) => ({ label, runs: runs.length, figures: toSpreads(runs), profile }));
  return { points, failures };
}

/** By point; the program that runs first at a point runs last in the next repetition. */
function inTurns(tracks: readonly Track[], repetition: number): Track[] {
  const direction = repetition % 2 === 0 ? 1 : -1;
  return tracks.toSorted(
    (one, other) => one.place - other.place || (one.program - other.program) * direction,
  );
}

async function runOnce({ label, measure, runs }: Track, run: string, failures: string[]): Promise<void> {
  try {
    const figures = await measure();
    runs.push(figures);
    console.log(`${label}, ${run}: ${describeFigures(figures)}`);
  } catch (error) {
    const failure = `${label}, ${run}: ${error instanceof Error ? error.stack : error}`;
    console.log(`FAILED: ${failure}`);
    failures.push(failure);
  }
}

function addRatios(tracks: readonly Track[], programs: readonly GatewayProgram[], figure: string): void {
  for (const { place, runs } of tracks.filter(({ program }) => program === 0)) {
    const other = tracks.find((track) => track.program === 1 && track.place === place);
    for (const [n, figures] of runs.entries()) {
      const [own, before] = [figures[figure], other?.runs[n]?.[figure]];
      if (own !== undefined && before !== undefined) figures[`ratio_to_${programs[1]?.name}`] = own / before;
    }
  }
}

function describeFigures(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${formatFigure(value)}`)
    .join(", ");
}

/** Three significant digits, and whole numbers from 100 on. */
export function formatFigure(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return String(Number(value.toPrecision(3)));
}

function toSpreads(runs: readonly Figures[]): Record<string, Spread> {
  const names = [...new Set(runs.flatMap((figures) => Object.keys(figures)))];
  return Object.fromEntries(
    names.map((name) => {
      const values = runs.flatMap((figures) => figures[name] ?? []);
      const spread = {
        median: percentile(values, 0.5),
        least: Math.min(...values),
        most: Math.max(...values),
      };
      return [name, spread];
    }),
  );
}
