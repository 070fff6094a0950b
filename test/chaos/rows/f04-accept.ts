import { WaygateError } from "../../../src/client/client.ts";
import {
  type AcknowledgedSend,
  planSends,
  readStoryLedgers,
  sendAll,
  sendOnce,
  toClientSends,
} from "../../e2e/send-history.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { atMost, IN_FLIGHT, judge } from "../judge.ts";

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
    const askOnce = () => sendOnce(story, instance, { text: "once", number: "5521988887777" }, "key-1");
    const breaches: string[] = [];
    await story.dieAt("accept:after-commit:1", async () => {
      const error = await askOnce().catch((failed: unknown) => failed);
      if (!(error instanceof Error) || error instanceof WaygateError)
        breaches.push("the answer came before the death");
    });
    let many: Promise<AcknowledgedSend[]> | undefined;
    await story.dieAt(`accept:after-commit:${random.between(2, 20)}`, () => {
      many = sendAll(story, instance, planSends("repeated", MANY, 8));
    });
    await story.start();
    const again = await askOnce();
    const onceMore = await askOnce();
    if (JSON.stringify(again) !== JSON.stringify(onceMore))
      breaches.push("the same request was answered differently");
    const accepted = [...((await many) ?? []), again];
    const ledgers = await readStoryLedgers(story, { sends: toClientSends(accepted) });
    const figures = judge(ledgers, { ...IN_FLIGHT, kills: 2 });
    const messages = await story.rows("select from message where direction = 'outbound'");
    return {
      ...figures,
      breaches: [...figures.breaches, ...breaches, ...atMost(MANY + 1, "messages", messages.length)],
    };
  },
};
