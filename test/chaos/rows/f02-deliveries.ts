import type { E2eStory } from "../../e2e/e2e-story.ts";
import { readStoryLedgers } from "../../e2e/send-history.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { IN_FLIGHT, judge } from "../judge.ts";
import type { ContactSay } from "../ledgers.ts";
import { receiveTexts } from "../receive-texts.ts";

/** Each with the latest pass at which the gateway dies there; a dispatch may take all deliveries that wait. */
const POINTS: [point: string, latest: number][] = [
  ["delivery:dispatched", 1],
  ["delivery:before-connect", 8],
  ["delivery:after-response", 8],
  ["delivery:after-commit", 8],
];
const TEXTS = 24;

/** F2: two instances with an address each, so that what comes to the wrong one is seen. */
export const f2: ChaosRow = {
  id: "F2",
  fault:
    "kill -9 around a delivery: after the dispatch, before the connect, before the answer, after it, after the commit",
  async run({ story: create, random }) {
    const story = await create();
    await story.start();
    const instances = [await story.pair(), await story.pair()];
    await story.drained();
    const says: ContactSay[] = [];
    const say = (name: string) => {
      for (const [n, one] of instances.entries())
        says.push(...receiveTexts(story, one, `${name}-${n}`, TEXTS / instances.length));
    };
    await killBeforeAnswer(story, () => say("unanswered"));
    for (const [point, latest] of POINTS)
      await story.dieAt(`${point}:${random.between(1, latest)}`, () => say(point));
    await story.start();
    const deliveries = instances.length * IN_FLIGHT.deliveries;
    return judge(await readStoryLedgers(story, { says }), {
      ...IN_FLIGHT,
      deliveries,
      kills: POINTS.length + 1,
    });
  },
};

/** The receiver has the whole request, and the gateway dies before it hears so. */
async function killBeforeAnswer({ gateway, receiver }: E2eStory, work: () => void): Promise<void> {
  receiver.respond(() => void gateway.kill());
  work();
  await gateway.exited;
  receiver.respond(200);
}
