import { createE2eStory, type E2eStory } from "../e2e/e2e-story.ts";
import { type Random, seededRandom } from "../run/seeded-random.ts";

/** What a row requires; without it the row is skipped with a message. */
export type Need = "root" | "mount" | "netns" | "pgbouncer";

/** The counters of one round of a row; unused ones are absent. */
export interface RoundFigures {
  kills?: number;
  /** Sends that were accepted. */
  sends?: number;
  /** Events that were recorded. */
  events?: number;
  /** Accepted sends without an outcome, and recorded events that no receiver got and no row gave up. */
  lost?: number;
  /** Unknown ids, different bytes, wrong signatures, events of others, causes that took effect twice. */
  unexpected?: number;
  /** Deliveries of an event after its receiver had answered 2xx. */
  duplicateDeliveries?: number;
  /** Arrivals of a message's id at the network beyond its first. */
  repeatedIds?: number;
  /** Accepted sends that the network saw under more than one id. */
  differentIds?: number;
  orderViolations?: number;
  /** From a death until another node acts in its place; judged like `times`. */
  takeOverSeconds?: number;
  /** Measured durations and their limits; the program judges them, a test on a busy machine does not. */
  times?: { what: string; seconds: number; bar: number }[];
  /** What else was measured, by its name. */
  measured?: Record<string, number | string>;
  /** Why its durations are not judged, if they depend on the machine. */
  notJudged?: string;
  /** Each other pass bar that was broken, in a sentence. */
  breaches: string[];
}

/** What a round is given. */
export interface Round {
  /** Counts from 1. */
  readonly number: number;
  readonly random: Random;
  /** The way of the gateway's role into the PostgreSQL of this run; `waygate_template` is in it, migrated and empty. */
  readonly databaseUrl: string;
  /** A gateway's story on a database of its own, not started yet; it ends with the round. */
  story(settings?: Record<string, string>, databaseUrl?: string): Promise<E2eStory>;
  /** Cleanup steps after the round, in reverse order, however it ends. */
  afterwards(step: () => unknown): void;
}

/** One fault of the matrix. */
export interface ChaosRow {
  /** As in docs/reliability/reliability.md: `F1`. */
  readonly id: string;
  /** A short description. */
  readonly fault: string;
  readonly needs?: readonly Need[];
  run(round: Round): Promise<RoundFigures>;
}

/** Runs one round of a row and clears up after it; throws what the row throws. */
export async function runRound(
  row: ChaosRow,
  { number = 1, seed, databaseUrl }: { number?: number; seed: string; databaseUrl: string },
): Promise<RoundFigures> {
  const steps: (() => unknown)[] = [];
  const round: Round = {
    number,
    databaseUrl,
    random: seededRandom(`${seed}/${row.id}/${number}`),
    async story(settings, server = databaseUrl) {
      const story = await createE2eStory(settings, server);
      steps.push(() => story.end());
      return story;
    },
    afterwards: (step) => void steps.push(step),
  };
  try {
    return await row.run(round);
  } finally {
    for (const step of steps.reverse()) await step();
  }
}
