import type { E2eStory, PairedInstance } from "../../e2e/e2e-story.ts";
import { readStoryLedgers } from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { atMost, IN_FLIGHT, toRoundFigures } from "../report.ts";

/** The other steps of a send are in F1. Each step has the highest pass at which the gateway dies. */
const STEPS: [point: string, latest: number][] = [
  ["campaign:before-queue", 1],
  ["campaign:after-queue", 1],
  ["send:after-wire", 15],
];
const RECIPIENTS = 200;
/** Recipients that are listed twice, under both spellings of their number. */
const TWINS = 30;
/** The network acknowledges these slowly. */
const SLOW_EVERY = 10;

export const f5: ChaosRow = {
  id: "F5",
  fault: "kill -9 of a campaign of 200 at three steps of a recipient's life, and with some on the wire",
  async run({ story: create, random }) {
    const story = await create({ WAYGATE_UNKNOWN_OUTCOME_WAIT: "500ms" });
    await story.start();
    const instance = await story.pair();
    const id = await createCampaign(story, instance);
    await story.drained();
    await story.gateway.kill();
    const begin = async () => (await story.signIn()).startCampaign({ id });
    for (const [index, [point, latest]] of STEPS.entries()) {
      const pass = random.between(1, latest);
      await story.dieAt(`${point}:${pass}`, index === 0 ? () => void begin().catch(() => {}) : undefined);
    }
    await story.start();
    if ((await readStatus(story, id)) === "created") await begin();
    await killUnanswered(story);
    await story.start();
    await waitUntil(async () => (await readStatus(story, id)) === "completed", 300_000);
    const figures = toRoundFigures(await readStoryLedgers(story, {}), {
      ...IN_FLIGHT,
      kills: STEPS.length + 1,
    });
    const { sent, breaches } = await checkReach(story, id);
    return { ...figures, sends: sent, breaches: [...figures.breaches, ...breaches] };
  },
};

async function createCampaign(story: E2eStory, instance: PairedInstance): Promise<number> {
  const owner = await story.signIn();
  const { data } = await owner.createCampaign({
    name: "Steps",
    instance_id: instance.id,
    message_template: "Hi {{name}}",
    min_delay_ms: 0,
    max_delay_ms: 0,
  });
  const numbers = Array.from({ length: RECIPIENTS }, (_, n) => {
    const end = n % SLOW_EVERY === 0 ? "0005" : "6667";
    return `55316${String(n).padStart(3, "0")}${end}`;
  });
  await owner.addRecipients({ id: data.id, numbers });
  await addTwins(story, data.id);
  return data.id;
}

/** Inserted directly, because the request would refuse them. Only the check before the send can find them. */
async function addTwins(story: E2eStory, id: number): Promise<void> {
  await story.rows(
    `insert into campaign_recipient (account_id, campaign_id, phone)
     select account_id, campaign_id, left(phone, 4) || '9' || substr(phone, 5) from campaign_recipient
     where campaign_id = $1 order by id limit ${TWINS}`,
    id,
  );
}

/** Kills the gateway while an acknowledgement is missing. */
async function killUnanswered(story: E2eStory): Promise<void> {
  const taken = "select message_id from sandbox.ledger where action = 'send' and outcome = 'slow'";
  const before = (await story.rows(taken)).length;
  await waitUntil(async () => (await story.rows(taken)).length > before, 60_000);
  await story.gateway.kill();
}

async function readStatus(story: E2eStory, id: number): Promise<string | undefined> {
  return (await story.rows<{ status: string }>("select status from campaign where id = $1", id))[0]?.status;
}

/**
 * Checks that nobody got the message twice, that unreached recipients are reported, and that totals and events match.
 */
async function checkReach(story: E2eStory, id: number): Promise<{ sent: number; breaches: string[] }> {
  const all = await story.rows<{ status: string; reason: string | null; arrivals: number }>(
    `select r.status, r.reason, (select count(*)::int from sandbox.ledger l
       where l.action = 'send' and l.outcome <> 'closed'
         and split_part(l.chat, '@', 1) = any(number_variants(r.phone))) as arrivals
     from campaign_recipient r where r.campaign_id = $1`,
    id,
  );
  const people = all.filter(({ reason }) => reason !== "duplicate");
  const twice = people.filter(({ arrivals }) => arrivals > 1);
  const failed = people.filter(({ status }) => status === "failed");
  const unreached = people.filter(({ status, arrivals }) => status !== "failed" && arrivals !== 1);
  const { totals } = (await (await story.signIn()).getCampaign({ id })).data;
  const expected = {
    total: RECIPIENTS + TWINS,
    skipped: TWINS,
    pending: 0,
    queued: 0,
    failed: failed.length,
    sent: RECIPIENTS - failed.length,
  };
  const wrong = Object.entries(expected).filter(
    ([name, count]) => totals[name as keyof typeof totals] !== count,
  );
  const decidedTwice = await story.rows(`
    select convert_from(body, 'UTF8')::jsonb -> 'data' -> 'message' ->> 'message_id' as message_id
    from event where event in ('message.sent', 'message.failed') group by 1 having count(*) > 1`);
  return {
    sent: expected.sent,
    breaches: [
      ...atMost(0, "recipients that were reached twice", twice),
      ...atMost(0, "recipients that are told wrongly", unreached),
      ...atMost(
        0,
        "failures without a reason",
        failed.filter(({ reason }) => reason !== "UNKNOWN_OUTCOME"),
      ),
      ...atMost(IN_FLIGHT.sends * STEPS.length, "recipients in doubt", failed),
      ...atMost(
        0,
        "wrong totals",
        wrong.map(([name]) => name),
      ),
      ...atMost(0, "messages with two outcomes", decidedTwice),
    ],
  };
}
