import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../../../../test/gateway.ts";
import { createEngineStory, type EngineStory } from "../../../../test/stories/engine/engine-story.ts";
import type { Engine, Job } from "../../../engine/engine.ts";
import { completeJob } from "./complete-job.ts";

let story: EngineStory;
beforeAll(async () => {
  story = await createEngineStory();
});
afterAll(() => story.close());

test("a job that has ended writes nothing again when the response of its commit was lost", async () => {
  const { db } = story.database;
  const written: number[] = [];
  async function run(job: Job) {
    const deps = { db, engine: await started };
    const write = async () => {
      written.push(job.id);
      return [];
    };
    await completeJob(deps, job, write);
    // Repeated, as after a connection that broke before the response.
    return completeJob(deps, job, write);
  }
  await story.lane("integration", "1", [{}, { pos: 1, grp: "h" }]);
  const kind = { kind: "integration", role: "worker" as const, laneConcurrency: 1, run };
  const started: Promise<Engine> = story.start("one", [kind]);
  await waitUntil(async () => (await story.jobsLeft()) === 0 && written.length >= 2);
  expect(new Set(written).size).toBe(2);
  expect(written).toHaveLength(2);
});
