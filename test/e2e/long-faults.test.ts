import { describe, expect, type TestContext, test } from "vitest";
import { waitUntil } from "../gateway.ts";
import type { Received } from "../receiver.ts";
import { makeScratchDir } from "../scratch-dir.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";
import { FLAWLESS, planSends, readHistory, sendAll } from "./send-history.ts";

/** What a lane of sends, and one of deliveries, has in flight at most. */
const SENDS_IN_FLIGHT = 16;
const DELIVERIES_IN_FLIGHT = 4;

/** Each has a story of its own: they take long, and mostly wait. */
describe.concurrent("what takes long", () => {
  type OnFinished = TestContext["onTestFinished"];

  async function beginStory(
    onTestFinished: OnFinished,
  ): Promise<{ story: E2eStory; instance: PairedInstance }> {
    const story = await createE2eStory();
    onTestFinished(() => story.end());
    await story.start();
    const instance = await story.pair();
    await story.drained();
    return { story, instance };
  }

  const says = (text: string) => (received: Received) => received.body.data?.message?.text === text;

  test("a delivery that dies twenty times uses up no attempt and comes with its next", async ({
    onTestFinished,
  }) => {
    const { story, instance } = await beginStory(onTestFinished);
    story.receiver.answer(500);
    await story.clientOf(instance).sandboxReceive({ id: instance.id, from: "5521966660000", text: "deadly" });
    const [first] = await story.receiver.waitFor(says("deadly"));
    await story.gateway.kill();
    story.receiver.answer(200);
    const ofEvent = "from job where ref ->> 'event_id' = $1";
    await story.rows("update job set run_at = now() where ref ->> 'event_id' = $1", first?.body.event_id);
    const attempts = async () =>
      (await story.rows<{ attempts: number }>(`select attempts ${ofEvent}`, first?.body.event_id))[0]
        ?.attempts ?? 0;
    const tried = await attempts();
    for (let death = 1; death <= 20; death++) {
      const { exited } = story.launch({ WAYGATE_FAULT_POINT: "delivery:before-connect:1" });
      expect(await exited).toEqual({ code: null, signal: "SIGKILL" });
    }
    expect(await attempts()).toBe(tried);
    await story.start();
    const [, second] = await story.receiver.waitFor(says("deadly"), 2);
    expect(second?.headers["x-waygate-attempt"]).toBe(String(tried + 1));
    expect(second?.raw).toEqual(first?.raw);
  });

  // Past its time it would end with code 1.
  test("a stop ends in time although a receiver hangs and the network is silent", async ({
    onTestFinished,
  }) => {
    const { story, instance } = await beginStory(onTestFinished);
    const client = story.clientOf(instance);
    story.receiver.answer(() => {});
    await client.sandboxReceive({ id: instance.id, from: "5521955554444", text: "to one that hangs" });
    await story.receiver.waitFor(says("to one that hangs"));
    const silent = { id: instance.id, number: "5521977770002", text: "silent" };
    const waiting = client.sendText(silent).catch((error: unknown) => error);
    const submitted =
      "select 1 from message where content ->> 'text' = 'silent' and submitted_at is not null";
    await waitUntil(async () => (await story.rows(submitted)).length === 1);
    expect(await story.gateway.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(await waiting).toMatchObject({ code: "SEND_TIMEOUT", details: { sent: "unknown" } });
    story.receiver.answer(200);
    await story.start();
    await story.receiver.waitFor(says("to one that hangs"), 2);
  });

  test("the other node of a killed one takes its sessions soon, and no accepted send is lost", async ({
    onTestFinished,
  }) => {
    const { story, instance } = await beginStory(onTestFinished);
    const { path: WAYGATE_DATA_DIR, remove } = await makeScratchDir("waygate-e2e-");
    onTestFinished(remove);
    const first = story.gateway;
    const sending = sendAll(story, instance, planSends("moving", 120, 12));
    const second = story.start({ WAYGATE_DATA_DIR });
    await waitUntil(() => story.receiver.of("message.sent").length > 10);
    await first.kill();
    await second;
    const accepted = await sending;
    const [old] = await story.rows<{ owner: string }>("select owner from lane where kind = 'session'");
    await waitUntil(async () => {
      const [now] = await story.rows<{ owner: string }>("select owner from lane where kind = 'session'");
      return now?.owner !== old?.owner;
    });
    const history = await readHistory(story, instance, accepted);
    expect(history).toMatchObject(FLAWLESS);
    expect(history.repeatedIds).toBeLessThanOrEqual(SENDS_IN_FLIGHT);
    expect(history.repeatedDeliveries).toBeLessThanOrEqual(DELIVERIES_IN_FLIGHT);
  });

  test("a node that stands still loses its sessions soon, and does nothing of the old when it wakes", async ({
    onTestFinished,
  }) => {
    const { story, instance } = await beginStory(onTestFinished);
    const { path: WAYGATE_DATA_DIR, remove } = await makeScratchDir("waygate-e2e-");
    onTestFinished(remove);
    const frozen = story.gateway;
    await story.start({ WAYGATE_DATA_DIR });
    const sending = sendAll(story, instance, planSends("frozen", 240, 12));
    await waitUntil(() => story.receiver.of("message.sent").length > 10);
    process.kill(frozen.pid, "SIGSTOP");
    const accepted = await sending;
    const undecided = "select 1 from message where outcome_at is null";
    const before = (await story.rows(undecided)).length;
    await waitUntil(async () => (await story.rows(undecided)).length < before - 20, 25_000);
    process.kill(frozen.pid, "SIGCONT");
    const history = await readHistory(story, instance, accepted);
    expect(history).toMatchObject(FLAWLESS);
    expect(history.repeatedIds).toBeLessThanOrEqual(SENDS_IN_FLIGHT);
    expect(history.repeatedDeliveries).toBeLessThanOrEqual(DELIVERIES_IN_FLIGHT);
    expect(await frozen.kill("SIGINT")).toEqual({ code: 0, signal: null });
  });

  test("rows that somebody holds for a while make nothing happen twice", async ({ onTestFinished }) => {
    const { story, instance } = await beginStory(onTestFinished);
    const somebody = await story.store.database.pool.connect();
    onTestFinished(() => somebody.release());
    const numbers = ["5521987650005", "5521987660005"];
    const slow = numbers.map((number) => ({ number, text: `to-${number}` }));
    const accepted = await sendAll(story, instance, slow);
    const arrived = "select 1 from sandbox.ledger where outcome = 'slow'";
    await waitUntil(async () => (await story.rows(arrived)).length === slow.length);
    // A receipt would tell what became of a send whose acknowledgement was forgotten.
    await story.rows("delete from sandbox.mailbox");
    await somebody.query("begin");
    await somebody.query("select from webhook for update");
    await somebody.query("select from event_head for update");
    const waiting = `select query_start from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database() order by query_start desc limit 1`;
    const waitingSince = async () =>
      (await story.rows<{ query_start: Date }>(waiting))[0]?.query_start.getTime() ?? 0;
    // The network's answers come after 3 s; the writing of what became of it waits, and is given up after 1 s.
    await waitUntil(waitingSince);
    const first = await waitingSince();
    await waitUntil(async () => (await waitingSince()) > first + 3_000);
    await somebody.query("commit");
    const history = await readHistory(story, instance, accepted);
    expect(history).toMatchObject({ ...FLAWLESS, repeatedIds: 0, repeatedDeliveries: 0 });
  });
});
