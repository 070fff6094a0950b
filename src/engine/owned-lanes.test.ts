import { afterAll, expect, it } from "vitest";
import { createEngineStory } from "../../test/engine-story.ts";

const story = await createEngineStory();
afterAll(() => story.close());

it("all lanes of a node open, a few at a time", async () => {
  const keys = Array.from({ length: 50 }, (_, n) => String(n));
  for (const key of keys) await story.lane("test", key);
  const opened = new Set<string>();
  let [opening, most] = [0, 0];
  await story.start("a", [
    {
      kind: "test",
      role: "worker",
      laneConcurrency: 1,
      run: async () => ({ end: "done" }),
      async onClaimed({ key }) {
        most = Math.max(most, ++opening);
        await new Promise((turn) => setTimeout(turn, 2));
        opening -= 1;
        opened.add(key);
      },
    },
  ]);
  await expect.poll(() => opened.size).toBe(keys.length);
  expect(most).toBeLessThanOrEqual(16);
});
