import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { packageRoot } from "../../../src/platform/package-version.ts";
import type { E2eStory, PairedInstance } from "../../e2e/e2e-story.ts";
import { waitUntil } from "../../gateway.ts";
import { makeScratchDir } from "../../run/scratch-dir.ts";
import type { ChaosRow, Round } from "../chaos-row.ts";
import { atMost } from "../report.ts";
import { readBlockers } from "../request-once.ts";

const HOUR_MS = 3_600_000;
const JUMPS: Readonly<Record<string, number>> = {
  "+2 h": 2 * HOUR_MS,
  "-2 h": -2 * HOUR_MS,
  "+1 year": 365 * 24 * HOUR_MS,
  "+1 h, as summer time in a clock that is set by hand": HOUR_MS,
  "-1 s, as a leap second": -1_000,
};
const WINDOW_MS = 6_000;
const FAILING = 6;
const STEADY_MS = 250;
const RECIPIENTS = 60;
const CLOCK = join(packageRoot(), "dist/test/chaos/shifted-clock.js");

/**
 * F16: the gateway's wall clock jumps, the database's does not. Stored times use the database's clock, waits are
 * monotonic.
 */
export const f16: ChaosRow = {
  id: "F16",
  fault: "jumps of the gateway's clock",
  async run(round) {
    const clock = await startClock(round);
    const story = await round.story({
      NODE_OPTIONS: `--import file://${CLOCK}`,
      CHAOS_CLOCK_FILE: clock.file,
      TZ: "America/New_York",
      WAYGATE_RETRY_SCHEDULE: "2s",
    });
    await story.start();
    const instance = await story.pair();
    story.receiver.respond(({ body }, response) => {
      response.writeHead(isFailing(body) ? 500 : 200).end();
    });
    // Without successful deliveries the circuit breaker of the webhook would open.
    const steady = keepSaying(story, instance);
    await startFailing(story, instance);
    const campaigns = await startCampaigns(story, instance);
    const epochs = await story.laneEpochs();
    const calm = await triesIn(story, WINDOW_MS);
    const rates: Record<string, number> = {};
    const skewed: string[] = [];
    for (const [name, ms] of Object.entries(JUMPS)) {
      clock.set(ms);
      rates[name] = await triesIn(story, WINDOW_MS);
      const isLarge = Math.abs(ms) > 60_000;
      if (isLarge && !(await readBlockers(story.gateway.url)).includes("clock_skew")) skewed.push(name);
      clock.set(0);
    }
    const lines = await steady.stop();
    const arrived = () => new Set(story.receiver.received.map(({ body }) => body?.data?.message?.text));
    await waitUntil(() => lines.every((text) => arrived().has(text)), 60_000).catch(() => {});
    const lost = lines.filter((text) => !arrived().has(text)).length;
    const reached = await readCampaigns(story, campaigns);
    const storms = Object.entries(rates).filter(([, tries]) => tries >= 2 * Math.max(calm, FAILING));
    return {
      events: lines.length,
      lost,
      unexpected: reached.twice,
      measured: {
        [`tries of failing events in ${WINDOW_MS / 1000} s, calm`]: calm,
        "and after each jump": Object.entries(rates)
          .map(([name, tries]) => `${name}: ${tries}`)
          .join("; "),
        "campaign recipients reached": `${reached.once} of ${RECIPIENTS}, twice ${reached.twice}`,
      },
      breaches: [
        ...storms.map(([name, tries]) => `a storm after ${name}: ${tries} tries where ${calm} are normal`),
        ...((await story.laneEpochs()) === epochs ? [] : ["a lane was taken early"]),
        ...atMost(0, "recipients reached twice", reached.twice),
        ...atMost(0, "events lost", lost),
        ...(reached.once === RECIPIENTS ? [] : [`the campaign reached ${reached.once} of ${RECIPIENTS}`]),
        ...(reached.isEarly ? ["a campaign of the day after tomorrow has begun"] : []),
        ...skewed.map((name) => `/health did not tell of the clock (${name})`),
      ],
    };
  },
};

async function startClock(round: Round): Promise<{ file: string; set(ms: number): void }> {
  const { path, remove } = await makeScratchDir("waygate-clock-");
  round.afterwards(remove);
  const file = join(path, "shift");
  const set = (ms: number) => writeFileSync(file, String(ms));
  set(0);
  return { file, set };
}

function isFailing(body: { data?: { message?: { text?: string } } } | undefined): boolean {
  return body?.data?.message?.text?.startsWith("fails") ?? false;
}

/** Events that their receiver rejects, so that a retry is always pending. */
async function startFailing(story: E2eStory, instance: PairedInstance): Promise<void> {
  const client = story.clientOf(instance);
  await story.rows("update webhook set max_attempts = 20");
  for (let n = 0; n < FAILING; n++) {
    await client.sandboxReceive({ id: instance.id, from: `552196611000${n}`, text: `fails-${n}` });
  }
  await waitUntil(
    () => story.receiver.received.filter(({ body }) => isFailing(body)).length >= 3 * FAILING,
    60_000,
  );
}

async function triesIn({ receiver }: E2eStory, ms: number): Promise<number> {
  const count = () => receiver.received.filter(({ body }) => isFailing(body)).length;
  const before = count();
  await delay(ms);
  return count() - before;
}

function keepSaying(story: E2eStory, instance: PairedInstance): { stop(): Promise<string[]> } {
  const client = story.clientOf(instance);
  const lines: string[] = [];
  let isOver = false;
  const saying = (async () => {
    for (let n = 0; !isOver; n++) {
      await client.sandboxReceive({ id: instance.id, from: "5521966220005", text: `steady-${n}` });
      lines.push(`steady-${n}`);
      await delay(STEADY_MS);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await saying;
      return lines;
    },
  };
}

/** One campaign that runs while the clock jumps, and one scheduled two days ahead. */
async function startCampaigns(
  story: E2eStory,
  instance: PairedInstance,
): Promise<{ now: number; later: number }> {
  const owner = await story.signIn();
  const make = async (name: string, numbers: string[], scheduled?: string): Promise<number> => {
    const { data } = await owner.createCampaign({
      name,
      instance_id: instance.id,
      message_template: "Hi",
      min_delay_ms: 500,
      max_delay_ms: 500,
      ...(scheduled && { scheduled_at: scheduled }),
    });
    await owner.addRecipients({ id: data.id, numbers });
    await owner.startCampaign({ id: data.id });
    return data.id;
  };
  const numbers = Array.from({ length: RECIPIENTS }, (_, n) => `5531677${String(n).padStart(3, "0")}005`);
  const later = new Date(Date.now() + 48 * HOUR_MS).toISOString();
  return { now: await make("Now", numbers), later: await make("Later", ["5531688000005"], later) };
}

async function readCampaigns(story: E2eStory, { now, later }: { now: number; later: number }) {
  const done = "select 1 from campaign where id = $1 and status = 'completed'";
  await waitUntil(async () => (await story.rows(done, now)).length > 0, 120_000).catch(() => {});
  const arrivals = await story.rows<{ n: number }>(
    `select count(*)::int as n from sandbox.ledger l where action = 'send' and chat like '5531677%' group by chat`,
  );
  const early = await story.rows(
    "select 1 from campaign_recipient where campaign_id = $1 and status <> 'pending'",
    later,
  );
  return {
    once: arrivals.length,
    twice: arrivals.filter(({ n }) => n > 1).length,
    isEarly: early.length > 0,
  };
}
