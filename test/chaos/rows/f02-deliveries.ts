import type { E2eStory, PairedInstance } from "../../e2e/e2e-story.ts";
import { readStory } from "../../e2e/send-history.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { IN_FLIGHT, judge } from "../checker.ts";
import type { ContactSay } from "../ledgers.ts";

const POINTS = ["delivery:before-connect", "delivery:after-response", "delivery:after-commit"];

export const f2: ChaosRow = {
  id: "F2",
  fault: "kill -9 around a delivery: before the connect, before the answer, after it, after the commit",
  async run({ story: create, random }) {
    const story = await create();
    await story.start();
    const instance = await story.pair();
    await story.drained();
    const says: ContactSay[] = [];
    const say = (name: string) => void receiveTexts(story, instance, name, 24, says);
    await killBeforeAnswer(story, () => say("unanswered"));
    for (const point of POINTS) await story.dieAt(`${point}:${random.between(2, 8)}`, () => say(point));
    await story.start();
    return judge(await readStory(story, { says }), { ...IN_FLIGHT, kills: POINTS.length + 1 });
  },
};

/** Texts from so many people, which arrive as one event each. */
function receiveTexts(
  story: E2eStory,
  { id, ...instance }: PairedInstance,
  name: string,
  count: number,
  says: ContactSay[],
): void {
  const client = story.clientOf({ id, ...instance });
  for (let i = 0; i < count; i++) {
    const text = `${name}-${i}`;
    const said: ContactSay = { key: text, known: "unknown" };
    says.push(said);
    const from = `5521966660${String(i).padStart(3, "0")}`;
    const known = (how: ContactSay["known"]) => () => {
      said.known = how;
    };
    client.sandboxReceive({ id, from, text }).then(known("ok"), known("unknown"));
  }
}

/** The receiver has the whole request, and the gateway dies before it hears so. */
async function killBeforeAnswer({ gateway, receiver }: E2eStory, work: () => void): Promise<void> {
  receiver.answer(() => void gateway.kill());
  work();
  await gateway.exited;
  receiver.answer(200);
}
