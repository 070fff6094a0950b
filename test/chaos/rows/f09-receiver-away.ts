import { WORK_LEFT } from "../../database.ts";
import type { E2eStory } from "../../e2e/e2e-story.ts";
import { type ContactSay, type Rows, readLedgers } from "../../e2e/ledgers.ts";
import { startTestGateway, type TestGateway, waitUntil } from "../../gateway.ts";
import { type Receiver, startReceiver } from "../../servers/receiver.ts";
import type { ChaosRow, Round } from "../chaos-row.ts";
import { IN_FLIGHT, toRoundFigures } from "../report.ts";
import {
  compareLoads,
  type Endpoint,
  findNeedless,
  pairEach,
  readLoad,
  receiveSteadily,
} from "../steady-load.ts";

const AWAY_SECONDS = { "1 s": 1, "10 min": 600, "26 h": 93_600 };
/** The schedule of docs/guides/webhooks.md. */
const SCHEDULE_SECONDS = [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000];
const SPREAD = 0.2;
/** Between the scheduled time and the row that records the attempt. */
const SLACK_SECONDS = 1;

export const f9: ChaosRow = {
  id: "F9",
  fault: "a receiver that is away for 1 s, 10 min and 26 h, on a virtual clock",
  async run({ databaseUrl, afterwards }) {
    const gateway = await startTestGateway({}, databaseUrl);
    afterwards(() => gateway.stop());
    const receiver = await startReceiver();
    afterwards(() => receiver.close());
    const { id, client, webhook_secret } = await gateway.connectInstance({ webhook_url: receiver.url });
    receiver.trust(webhook_secret);
    const rows: Rows = async (text, ...values) => (await gateway.database.pool.query(text, values)).rows;
    const says: ContactSay[] = [];
    const breaches: string[] = [];
    const measured: Record<string, number> = {};
    for (const [name, seconds] of Object.entries(AWAY_SECONDS)) {
      await receiver.shut();
      await client.sandboxReceive({ id, from: "5521966660000", text: name });
      says.push({ key: name, known: "ok" });
      const waits = await letPass(gateway, rows, name, seconds);
      await receiver.open();
      await gateway.advance((waits.at(-1) ?? 0) * 1000);
      await receiver.waitFor(({ body }) => body.data?.message?.text === name, 1, 60_000);
      measured[`failed tries while away for ${name}`] = waits.length;
      breaches.push(...waits.flatMap((wait, index) => offSchedule(name, wait, index)));
    }
    await waitUntil(async () => (await rows(WORK_LEFT)).length === 0, 60_000);
    const figures = toRoundFigures(await readLedgers({ rows, receiver, says }), { ...IN_FLIGHT, kills: 0 });
    return { ...figures, measured, breaches: [...figures.breaches, ...breaches] };
  },
};

/** Advances the clock from failure to failure and returns the waits in seconds. */
async function letPass(gateway: TestGateway, rows: Rows, text: string, seconds: number): Promise<number[]> {
  const waits: number[] = [];
  for (let passed = 0; ; ) {
    await waitUntil(async () => ((await readPlan(rows, text))?.attempts ?? 0) > waits.length, 60_000);
    const wait = (await readPlan(rows, text))?.wait ?? 0;
    waits.push(wait);
    passed += wait;
    if (passed >= seconds) return waits;
    await gateway.advance(wait * 1000);
  }
}

/** Failed attempts of a text's delivery, and the seconds until the next one. */
async function readPlan(rows: Rows, text: string): Promise<{ attempts: number; wait: number } | undefined> {
  const found = await rows<{ attempts: number; wait: number }>(
    `select d.attempts, extract(epoch from d.next_retry_at - a.created_at)::float8 as wait
     from event e join delivery d on d.event_id = e.event_id
     join attempt a on a.delivery_id = d.id and a.attempt = d.attempts
     where e.event = 'message.received' and convert_from(e.body, 'UTF8')::jsonb #>> '{data,message,text}' = $1`,
    text,
  );
  return found[0];
}

function offSchedule(name: string, wait: number, index: number): string[] {
  const step = SCHEDULE_SECONDS[index] ?? 0;
  const isOff = Math.abs(wait - step) > step * SPREAD + SLACK_SECONDS;
  return isOff ? [`away for ${name}: ${wait.toFixed(1)} s after failure ${index + 1}, planned ${step}`] : [];
}

const ENDPOINTS = 100;
const MOST_RISE = 1;
const LOAD = { perSecond: 50, seconds: 10 };

/** F11: of 100 endpoints one hangs, one returns 429 and one 500. The others are not affected. */
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

/** Sends load to all and measures the healthy ones. */
async function load(story: E2eStory, all: readonly Endpoint[], healthy: readonly Endpoint[], name: string) {
  const shares = { ...LOAD, perSecond: (LOAD.perSecond * all.length) / healthy.length };
  const saidAt = await receiveSteadily(all, { name, ...shares });
  const isTheirs = (text: string) => Number(text.split("-").at(-1)) % all.length < healthy.length;
  const theirs = [...saidAt].filter(([text]) => isTheirs(text));
  return readLoad(new Map(theirs), [story.receiver]);
}
