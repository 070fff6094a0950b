import { WaygateError } from "../../../src/client.ts";
import type { E2eStory, PairedInstance } from "../../e2e/e2e-story.ts";
import { type AcceptedSend, planSends, readStory, sendAll, toClientSends } from "../../e2e/send-history.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { atMost, IN_FLIGHT, judge } from "../checker.ts";

const MANY = 40;

export const f4: ChaosRow = {
  id: "F4",
  fault: "kill -9 after the commit of a send and before its answer; the client asks again",
  async run({ story: create, random }) {
    const story = await create();
    await story.start();
    const instance = await story.pair();
    await story.drained();
    await story.gateway.kill();
    const breaches: string[] = [];
    await story.dieAt("accept:after-commit:1", async () => {
      const error = await askOnce(story, instance).catch((failed: unknown) => failed);
      if (!(error instanceof Error) || error instanceof WaygateError)
        breaches.push("the answer came before the death");
    });
    let many: Promise<AcceptedSend[]> | undefined;
    await story.dieAt(`accept:after-commit:${random.between(2, 20)}`, () => {
      many = sendAll(story, instance, planSends("repeated", MANY, 8));
    });
    await story.start();
    const again = await askOnce(story, instance);
    const onceMore = await askOnce(story, instance);
    if (JSON.stringify(again) !== JSON.stringify(onceMore))
      breaches.push("the same request was answered differently");
    const accepted = [...((await many) ?? []), again];
    const ledgers = await readStory(story, { sends: toClientSends(accepted) });
    const figures = judge(ledgers, { ...IN_FLIGHT, kills: 2 });
    const messages = await story.rows("select from message where direction = 'outbound'");
    return {
      ...figures,
      breaches: [...figures.breaches, ...breaches, ...atMost(MANY + 1, "messages", messages.length)],
    };
  },
};

async function askOnce(story: E2eStory, instance: PairedInstance): Promise<AcceptedSend> {
  const input = { id: instance.id, number: "5521988887777", text: "once", async: true };
  const answer = await story.clientOf(instance).sendText(input, { idempotencyKey: "key-1" });
  if (!answer.queued) throw new Error("an async send was answered like a sync one");
  const { jobId, pendingMessageId, data } = answer;
  return { text: "once", number: input.number, id: data.message.id, jobId, message_id: pendingMessageId };
}
