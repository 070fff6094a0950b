import type { E2eStory } from "../../e2e/e2e-story.ts";
import { type Receiver, startReceiver } from "../../servers/receiver.ts";
import type { ChaosRow, Round } from "../chaos-row.ts";
import {
  compareLoads,
  type Endpoint,
  findNeedless,
  pairEach,
  readLoad,
  receiveSteadily,
} from "../steady-load.ts";

const ENDPOINTS = 100;
const MOST_RISE = 1;
const LOAD = { perSecond: 50, seconds: 10 };

/** F11: of 100 endpoints one hangs, one answers 429 to all and one 500; the others do not feel it. */
export const f11: ChaosRow = {
  id: "F11",
  fault: "one of 100 endpoints hangs, one floods 429, one answers 500",
  async run(round) {
    const story = await round.story({ WAYGATE_WEBHOOK_TIMEOUT: "5s" });
    await story.start();
    const bad = await startBadReceivers(round);
    const urls = Array.from({ length: ENDPOINTS - bad.length }, () => story.receiver.url);
    const endpoints = await pairEach(story, [...urls, ...bad.map(({ url }) => url)]);
    const healthy = endpoints.slice(0, urls.length);
    await load(story, healthy, healthy, "warm-up");
    const calm = await load(story, healthy, healthy, "calm");
    const noisy = await load(story, endpoints, healthy, "noisy");
    const compared = compareLoads(calm, noisy, MOST_RISE);
    const lost = calm.lost + noisy.lost;
    return {
      events: 2 * LOAD.perSecond * LOAD.seconds,
      lost,
      duplicateDeliveries: calm.duplicates + noisy.duplicates,
      measured: {
        "healthy p99 calm / beside them (ms)": compared.word,
        "requests at the three": bad.reduce((sum, { received }) => sum + received.length, 0),
      },
      notJudged: compared.notJudged,
      breaches: [
        ...(await findNeedless(story, [calm, noisy])),
        ...(compared.isTooMuch ? [`healthy p99 rose: ${compared.word}`] : []),
        ...(lost > 0 ? [`${lost} events of healthy endpoints were lost`] : []),
      ],
    };
  },
};

async function startBadReceivers(round: Round): Promise<Receiver[]> {
  const bad = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
  for (const receiver of bad) round.afterwards(() => receiver.close());
  const [hanging, limiting, failing] = bad;
  hanging?.respond(() => {});
  limiting?.respond((_, response) => void response.writeHead(429, { "retry-after": "1" }).end());
  failing?.respond(500);
  return bad;
}

/** What comes to all of them, as the healthy ones see it. */
async function load(story: E2eStory, all: readonly Endpoint[], healthy: readonly Endpoint[], name: string) {
  const shares = { ...LOAD, perSecond: (LOAD.perSecond * all.length) / healthy.length };
  const saidAt = await receiveSteadily(all, { name, ...shares });
  const isTheirs = (text: string) => Number(text.split("-").at(-1)) % all.length < healthy.length;
  const theirs = [...saidAt].filter(([text]) => isTheirs(text));
  return readLoad(new Map(theirs), [story.receiver]);
}
