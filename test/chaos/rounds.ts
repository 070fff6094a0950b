import { createE2eStory } from "../e2e/e2e-story.ts";
import type { ChaosRow, Round, RoundFigures } from "./chaos-row.ts";
import { seededRandom } from "./seeded-random.ts";

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
