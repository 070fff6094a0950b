import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../gateway.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";

/** The seven steps of a recipient's life, each with the pass at which the gateway dies there. */
const STEPS = [
  "campaign:before-queue:1",
  "campaign:after-queue:1",
  "send:before-submit:40",
  "send:before-wire:80",
  "send:after-wire:60",
  "send:after-ack:90",
  "send:after-outcome:100",
];
const RECIPIENTS = 200;
/** Sends that a session lane has in flight at most: so many can be in doubt after each kill. */
const IN_FLIGHT = 16;

interface Outcome {
  id: number;
  status: string;
  phone: string;
  arrivals: number;
  recipient: string;
  reason: string | null;
}

describe("campaigns of a gateway that is killed at each step of a recipient's life", () => {
  let story: E2eStory;
  let instance: PairedInstance;
  const ends: unknown[] = [];

  beforeAll(async () => {
    story = await createE2eStory({ WAYGATE_DOUBT_WAIT: "500ms" });
    await story.start();
    instance = await story.pair();
    const campaigns = await Promise.all(STEPS.map((_, index) => createCampaign(index)));
    await story.gateway.kill();
    // The next start finishes what the kill before it has left behind, and may die over that.
    for (const [index, step] of STEPS.entries()) {
      const { exited } = await story.start({ WAYGATE_FAULT_POINT: step });
      await startCampaign(campaigns[index] ?? 0).catch(() => {});
      ends.push(await exited);
    }
    await story.start();
    for (const { id } of await read("status = 'created'")) await startCampaign(id);
    await waitUntil(async () => (await read("status <> 'completed'")).length === 0, 60_000);
  }, 180_000);
  afterAll(() => story.end());

  async function createCampaign(index: number): Promise<number> {
    const owner = await story.signIn();
    const { data } = await owner.createCampaign({
      ...{ name: `Step ${index}`, instance_id: instance.id, message_template: "Hi {{name}}" },
      ...{ min_delay_ms: 0, max_delay_ms: 0 },
    });
    const numbers = Array.from(
      { length: RECIPIENTS },
      (_, n) => `55316${index}${String(n).padStart(3, "0")}6667`,
    );
    await owner.addRecipients({ id: data.id, numbers });
    return data.id;
  }

  async function startCampaign(id: number): Promise<void> {
    await (await story.signIn()).startCampaign({ id });
  }

  async function read(where: string) {
    return story.rows<{ id: number }>(`select id from campaign where ${where}`);
  }

  async function readOutcomes(): Promise<Outcome[]> {
    return story.rows<Outcome>(`
      select c.id, c.status, r.phone, r.status as recipient, r.reason,
        (select count(*)::int from sandbox.ledger l
          where l.action = 'send' and split_part(l.chat, '@', 1) = r.phone) as arrivals
      from campaign c join campaign_recipient r on r.campaign_id = c.id`);
  }

  test("every kill came at its step", () => {
    expect(ends).toEqual(STEPS.map(() => ({ code: null, signal: "SIGKILL" })));
  });

  test("nobody gets a campaign twice, and whoever was not reached is told as such", async () => {
    const outcomes = await readOutcomes();
    expect(outcomes).toHaveLength(STEPS.length * RECIPIENTS);
    expect(outcomes.filter(({ arrivals }) => arrivals > 1)).toEqual([]);
    const unsure = outcomes.filter(({ recipient }) => recipient === "failed");
    expect(unsure.length).toBeLessThanOrEqual(IN_FLIGHT * STEPS.length);
    expect(unsure.filter(({ reason }) => reason !== "UNKNOWN_OUTCOME")).toEqual([]);
    expect(outcomes.filter(({ recipient, arrivals }) => recipient !== "failed" && arrivals !== 1)).toEqual(
      [],
    );
  });

  test("the totals of every campaign are exact", async () => {
    const owner = await story.signIn();
    const outcomes = await readOutcomes();
    const { data } = await owner.listCampaigns();
    for (const { id } of data) {
      const { totals } = (await owner.getCampaign({ id })).data;
      const failed = outcomes.filter((one) => one.id === id && one.recipient === "failed").length;
      expect(totals).toMatchObject({
        total: RECIPIENTS,
        pending: 0,
        queued: 0,
        failed,
        sent: RECIPIENTS - failed,
      });
    }
  });

  test("every message has one outcome event", async () => {
    const twice = await story.rows(`
      select convert_from(body, 'UTF8')::jsonb -> 'data' -> 'message' ->> 'message_id' as message_id
      from event where event in ('message.sent', 'message.failed') group by 1 having count(*) > 1`);
    expect(twice).toEqual([]);
  });
});
