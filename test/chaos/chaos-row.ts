import { createE2eStory, type E2eStory } from "../e2e/e2e-story.ts";
import { type Random, seededRandom } from "../run/seeded-random.ts";

/** Requirements of a row, which is skipped without them. */
export type Need = "root" | "mount" | "netns" | "pgbouncer";

/** Counters of one round; unused ones are absent. */
export interface RoundFigures {
  kills?: number;
  /** Accepted sends. */
  sends?: number;
  /** Recorded events. */
  events?: number;
  /** Accepted sends without an outcome, and recorded events that neither arrived nor failed. */
  lost?: number;
  /** Unknown ids, changed bytes, wrong signatures, foreign events, and causes with two effects. */
  unexpected?: number;
  /** Deliveries after the receiver returned 2xx for the same event. */
  duplicateDeliveries?: number;
  /** Arrivals of a message id at the network after its first. */
  repeatedIds?: number;
  /** Accepted sends that reached the network under more than one id. */
  differentIds?: number;
  orderViolations?: number;
  /** Seconds from a kill until another node takes over. Limited like `times`. */
  takeOverSeconds?: number;
  /** Durations with limits. The chaos program checks them; a test on a busy machine does not. */
  times?: { what: string; seconds: number; bar: number }[];
  /** Other figures by name. */
  measured?: Record<string, number | string>;
  /** Why the durations are not checked on this machine. */
  notJudged?: string;
  /** Every other violated limit, as a sentence. */
  breaches: string[];
}

export interface Round {
  /** Counts from 1. */
  readonly number: number;
  readonly random: Random;
  /** URL of this run's PostgreSQL for the gateway's role. It contains `waygate_template`, migrated and empty. */
  readonly databaseUrl: string;
  /** A story on its own database. The gateway is not started; the story ends with the round. */
  story(settings?: Record<string, string>, databaseUrl?: string): Promise<E2eStory>;
  /** Adds a cleanup step. Steps run in reverse order. */
  afterwards(step: () => unknown): void;
}

/** One fault of the matrix. */
export interface ChaosRow {
  /** Id of docs/reliability/reliability.md, such as `F1`. */
  readonly id: string;
  readonly fault: string;
  readonly needs?: readonly Need[];
  run(round: Round): Promise<RoundFigures>;
}

/** Runs one round and its cleanup. Throws what the row throws. */
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
