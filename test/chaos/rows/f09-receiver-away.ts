import { WORK_LEFT } from "../../database.ts";
import { startTestGateway, type TestGateway, waitUntil } from "../../gateway.ts";
import { startReceiver } from "../../servers/receiver.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { IN_FLIGHT, judge } from "../judge.ts";
import { type ContactSay, type Rows, readLedgers } from "../ledgers.ts";

const AWAY_SECONDS = { "1 s": 1, "10 min": 600, "26 h": 93_600 };
/** What docs/guides/webhooks.md says. */
const SCHEDULE_SECONDS = [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000];
const SPREAD = 0.2;
/** Between the plan and the row that says when the try was. */
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
    const figures = judge(await readLedgers({ rows, receiver, says }), { ...IN_FLIGHT, kills: 0 });
    return { ...figures, measured, breaches: [...figures.breaches, ...breaches] };
  },
};

/** Lets so much time pass from failure to failure, and answers the waits between them in seconds. */
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

/** How often a text's delivery has failed, and the seconds between the last failure and the next try. */
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
