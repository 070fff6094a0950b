import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createEngineStory, createGate, eventually } from "../../test/engine-story.ts";
import type { Engine, Job, JobEnd, LaneKind } from "./engine.ts";

const story = await createEngineStory();
afterEach(story.rest);
afterAll(story.close);

const LANES = Array.from({ length: 12 }, (_, n) => `lane ${n}`);
const DONE: JobEnd = { end: "done" };

function kindOf(more: Partial<LaneKind> = {}): LaneKind {
  return { kind: "k", role: "worker", width: 1, run: async () => DONE, ...more };
}

const heldBy = (engine: Engine) => LANES.filter((key) => engine.laneOf("k", key));

async function startWithAll(kind: LaneKind): Promise<Engine> {
  for (const key of LANES) await story.lane("k", key);
  const engine = await story.start("a", [kind]);
  await eventually(() => heldBy(engine).length).toBe(LANES.length);
  return engine;
}

describe("a node that joins", () => {
  it("gets its share of the lanes, each closed before it is opened again", async () => {
    const open = new Set<string>();
    const doubles: string[] = [];
    const kind = kindOf({
      taken: async ({ key }) => {
        if (open.has(key)) doubles.push(key);
        open.add(key);
      },
      lost: async ({ key }) => void open.delete(key),
    });
    const first = await startWithAll(kind);
    const second = await story.start("b", [kind]);
    await eventually(() => heldBy(second).length).toBe(5);
    expect(heldBy(first).length).toBe(7);
    await eventually(() => open.size).toBe(LANES.length);
    expect(doubles).toEqual([]);
  });

  it("gets no lane in which something runs, and no job is lost or done twice", async () => {
    const ran: string[] = [];
    const gate = createGate();
    const run = async ({ lane }: Job): Promise<JobEnd> => {
      if (lane.key === LANES[0]) await gate.opened;
      ran.push(lane.key);
      return DONE;
    };
    const first = await startWithAll(kindOf({ run }));
    const busy = await story.lane("k", LANES[0] ?? "", [{ pos: 1 }]);
    first.wake([busy]);
    await eventually(() => first.inFlight()).toBe(1);
    const second = await story.start("b", [kindOf({ run })]);
    await eventually(() => heldBy(second).length).toBe(5);
    expect(heldBy(first)).toContain(LANES[0]);
    for (const key of LANES.slice(1)) second.wake([await story.lane("k", key, [{ pos: 1 }])]);
    gate.open();
    await eventually(story.jobsLeft).toBe(0);
    expect(ran.toSorted()).toEqual(LANES.toSorted());
  });
});
