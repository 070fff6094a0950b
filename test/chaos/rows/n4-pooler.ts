import { setTimeout as delay } from "node:timers/promises";
import { planSends, readStoryLedgers, sendAll, toClientSends } from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { atMost, IN_FLIGHT, judge } from "../judge.ts";
import { layPooler } from "../pooler.ts";
import { keepRequestingOnce } from "../request-once.ts";

const SENDS = 300;
const AWAY_MS = 3_000;
const BACK_SECONDS = 10;

export const n4: ChaosRow = {
  id: "N4",
  fault: "behind PgBouncer in transaction mode, which is killed under load",
  needs: ["pgbouncer"],
  async run(round) {
    const story = await round.story();
    const pooler = await layPooler(round, story.store.url);
    const { exited } = await story.start({
      DATABASE_URL: pooler.url,
      WAYGATE_DATABASE_DIRECT_URL: story.store.url,
    });
    const instance = await story.pair();
    const once = keepRequestingOnce(story, instance, "once");
    const sending = sendAll(story, instance, planSends("pooled", SENDS, 20));
    await waitUntil(() => story.receiver.of("message.sent").length > 20);
    await pooler.kill();
    await delay(AWAY_MS);
    const refusal = await story.signIn().catch((error: unknown) => error);
    await pooler.start();
    const backAt = performance.now();
    await waitUntil(() => story.signIn().then(Boolean, () => false));
    const seconds = (performance.now() - backAt) / 1000;
    const accepted = await sending;
    const sends = [...toClientSends(accepted), ...(await once.stop())];
    const ledgers = await readStoryLedgers(story, { sends });
    const hasEnded = await Promise.race([exited.then(() => 1), delay(0, 0)]);
    // What the dead pooler had in hand is committed or not, and done again where nobody knows.
    const figures = judge(ledgers, { ...IN_FLIGHT, kills: 1 });
    return {
      ...figures,
      times: [{ what: "serves again after the pooler is back", seconds, bar: BACK_SECONDS }],
      breaches: [
        ...figures.breaches,
        ...(statusOf(refusal) === 503 ? [] : [`without the pooler it answered ${statusOf(refusal)}`]),
        ...atMost(0, "gateways that ended with their pooler", hasEnded),
      ],
    };
  },
};

function statusOf(refusal: unknown): unknown {
  return refusal instanceof Error && "status" in refusal ? refusal.status : "2xx";
}
