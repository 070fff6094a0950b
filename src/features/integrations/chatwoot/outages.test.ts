import { expect, test } from "vitest";
import { setUpChatwootStory } from "../../../../test/chatwoot-story.ts";
import { waitUntil } from "../../../../test/gateway.ts";
import { newPerson } from "../../../../test/integration-story.ts";

const story = setUpChatwootStory();
const { chatwoot, receive, save } = story;
/** The longest retry delay, with jitter, while the other side is unavailable for a short time. */
const LONGEST_WAIT_MS = 12_000;
const JOBS = "from job join integration i on i.lane = job.lane where i.instance_id = $1";

const query = async (text: string, ...values: unknown[]) =>
  (await story.gateway.database.pool.query(text, values)).rows;
const at = () => ({ id: story.shop.id, provider: "chatwoot" as const });
const read = async () => (await story.shop.client.getIntegration(at())).data;
const contents = () => chatwoot.messages.map(({ content }) => content);

/** Resolves once the waiting job has failed this many times. */
const failed = (times: number) =>
  waitUntil(async () => (await query(`select min(attempts) as n ${JOBS}`, story.shop.id))[0].n >= times);

async function waitMs(): Promise<number> {
  const wait = "extract(epoch from max(run_at) - now()) * 1000";
  const [row] = await query(`select (${wait})::float8 as ms ${JOBS}`, story.shop.id);
  return row.ms;
}

test("the gateway calls an unavailable Chatwoot at least every 12 seconds", async () => {
  await save();
  const port = Number(new URL(chatwoot.url).port);
  await chatwoot.stop();
  await receive({ from: newPerson(), text: "Hello" });
  for (let tries = 1; tries <= 7; tries++) {
    await story.gateway.advance(600_000);
    await failed(tries);
    expect(await waitMs()).toBeLessThanOrEqual(LONGEST_WAIT_MS);
  }
  await chatwoot.start(port);
  await waitUntil(async () => {
    await story.gateway.advance(600_000);
    return chatwoot.messages.length > 0;
  });
  await story.quiet();
  expect(contents()).toEqual(["Hello"]);
});

test("the time that a message waits for its file does not lengthen Chatwoot's retry delays", async () => {
  await save();
  chatwoot.faults.status = 500;
  await receive({ from: newPerson(), text: "Hello" });
  await failed(1);
  const { id } = story.shop;
  const ofLane = "lane = (select lane from integration where instance_id = $1)";
  await query(`update job set attempts = 100, ref = ref - 'tries', run_at = now() where ${ofLane}`, id);
  await story.gateway.advance(0);
  await failed(101);
  expect(await waitMs()).toBeLessThanOrEqual(LONGEST_WAIT_MS);
});

test("a successful test call delivers the waiting messages of every chat at once", async () => {
  // Later versions do not call loopback addresses, and the integration test reports that.
  chatwoot.version = "4.13.0";
  await save();
  chatwoot.faults.status = 500;
  const texts = Array.from({ length: 12 }, (_, n) => `Hello ${n}`);
  for (const text of texts) await receive({ from: newPerson(), text });
  await waitUntil(async () => (await read()).paused_until !== null);
  expect((await story.shop.client.testIntegration(at())).data.success).toBe(false);
  chatwoot.faults.status = null;
  expect((await story.shop.client.testIntegration(at())).data.success).toBe(true);
  await waitUntil(() => chatwoot.messages.length === texts.length);
  await story.quiet();
  expect(contents().sort()).toEqual(texts.toSorted());
  expect(await read()).toMatchObject({ status: "ok", paused_until: null });
});

test("an agent sees that a message failed even if Chatwoot was unavailable at that moment", async () => {
  await save();
  const nobody = chatwoot.startConversation({ name: "Nobody", identifier: null, phone_number: null });
  await chatwoot.settled();
  chatwoot.faults.status = 500;
  const message = chatwoot.write(nobody.id, "Hello");
  const tries = "select max(attempts) as n from job join integration i on i.inbound_lane = job.lane";
  await waitUntil(async () => {
    await story.gateway.advance(1_000);
    return (await query(`${tries} where i.instance_id = $1`, story.shop.id))[0].n > 0;
  });
  chatwoot.faults.status = null;
  await waitUntil(async () => {
    await story.gateway.advance(60_000);
    return message.status === "failed";
  });
  expect(message.content_attributes.external_error).toBe("The contact has no WhatsApp number.");
  expect(await story.sent()).toEqual([]);
});

test.each(["breakOffAnswers", "pages"] as const)(
  "a message whose response does not come from Chatwoot itself waits and is posted once: %s",
  async (fault) => {
    await save();
    const ana = newPerson();
    chatwoot.faults[fault] = 2;
    await receive({ from: ana, text: "Hello" });
    await waitUntil(async () => (await read()).status === "failing");
    expect((await read()).last_error).toMatch(/did not come from Chatwoot.*sent again/);
    await receive({ from: ana, text: "Are you there?" });
    await waitUntil(async () => {
      await story.gateway.advance(60_000);
      return chatwoot.messages.length === 2 && (await read()).waiting === 0;
    });
    await story.quiet();
    expect(contents()).toEqual(["Hello", "Are you there?"]);
    expect((await read()).status).toBe("ok");
  },
);
