import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";
import { FLAWLESS, planSends, readHistory, sendAll } from "./send-history.ts";

describe("a gateway that is killed after the commit of a send and before its answer", () => {
  let story: E2eStory;
  let instance: PairedInstance;

  beforeAll(async () => {
    story = await createE2eStory();
    await story.start();
    instance = await story.pair();
    await story.gateway.kill();
  });
  afterEach(() => story.gateway.kill());
  afterAll(() => story.end());

  test("answers a repeated request with the same job, and sends one message", async () => {
    const { exited } = await story.start({ WAYGATE_FAULT_POINT: "accept:after-commit:1" });
    const input = { id: instance.id, number: "5521988887777", text: "once", async: true };
    const first = story.clientOf(instance).sendText(input, { idempotencyKey: "key-1" });
    await expect(first).rejects.toThrow("fetch failed");
    expect((await exited).signal).toBe("SIGKILL");
    await story.start();
    const again = await story.clientOf(instance).sendText(input, { idempotencyKey: "key-1" });
    const onceMore = await story.clientOf(instance).sendText(input, { idempotencyKey: "key-1" });
    expect(again).toMatchObject({ queued: true });
    expect(onceMore).toEqual(again);
    await story.drained();
    const messages = await story.rows(`select job_id from message where content ->> 'text' = 'once'`);
    expect(messages).toEqual([{ job_id: again.jobId }]);
    const arrivals = await story.rows(
      `select message_id from sandbox.ledger where content ->> 'text' = 'once'`,
    );
    expect(arrivals).toEqual([{ message_id: again.pendingMessageId }]);
  });

  test("loses none of many requests that are repeated until they are answered", async () => {
    const { exited } = await story.start({ WAYGATE_FAULT_POINT: "accept:after-commit:9" });
    const sending = sendAll(story, instance, planSends("repeated", 40, 8));
    expect((await exited).signal).toBe("SIGKILL");
    await story.start();
    const accepted = await sending;
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(40);
    expect(await readHistory(story, instance, accepted)).toMatchObject({ ...FLAWLESS, lost: [] });
    const [count] = await story.rows(
      `select count(*)::int as n from message where content ->> 'text' like 'repeated-%'`,
    );
    expect(count).toEqual({ n: 40 });
  });
});
