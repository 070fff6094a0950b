import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../gateway.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";
import { compareDeliveries } from "./send-history.ts";

/** Deliveries that a webhook lane has in flight at most. */
const IN_FLIGHT = 4;

describe("deliveries of a gateway that is killed", () => {
  let story: E2eStory;
  let instance: PairedInstance;

  beforeAll(async () => {
    story = await createE2eStory();
    await story.start();
    instance = await story.pair();
    await story.drained();
    await story.gateway.kill();
  });
  afterEach(() => story.gateway.kill());
  afterAll(() => story.end());

  /** Texts from so many people, which arrive as one event each. */
  async function receiveTexts(name: string, count: number): Promise<void> {
    const texts = Array.from({ length: count }, (_, i) => ({
      id: instance.id,
      from: `5521966660${String(i).padStart(3, "0")}`,
      text: `${name}-${i}`,
    }));
    await Promise.all(
      texts.map((text) =>
        story
          .clientOf(instance)
          .sandboxReceive(text)
          .catch(() => undefined),
      ),
    );
  }

  /** Every recorded event of the instance comes, whole and signed. */
  async function expectAllDelivered(): Promise<void> {
    const recorded = "select event_id, convert_from(body, 'UTF8') as body from event where instance_id = $1";
    let missing: string[] = [];
    await waitUntil(async () => {
      const events = await story.rows<{ event_id: string; body: string }>(recorded, instance.id);
      const came = new Map(
        story.receiver.received.map(({ body, raw }) => [body.event_id, raw.toString("utf8")]),
      );
      missing = events.filter(({ event_id, body }) => came.get(event_id) !== body).map(({ body }) => body);
      return missing.length === 0;
    }).catch(() => {});
    expect(missing).toEqual([]);
    expect(story.receiver.forged).toEqual([]);
    await story.drained();
  }

  test.each(["delivery:before-connect", "delivery:after-response", "delivery:after-commit"])(
    "at %s each come at least once with the same bytes, and no more twice than were in flight",
    async (point) => {
      const before = compareDeliveries(story).repeatedDeliveries;
      const killed = await story.start({ WAYGATE_FAULT_POINT: `${point}:5` });
      await receiveTexts(point.replace(":", "-"), 24);
      expect((await killed.exited).signal).toBe("SIGKILL");
      await story.start();
      await expectAllDelivered();
      const { repeatedDeliveries, differentBytes } = compareDeliveries(story);
      expect(differentBytes).toEqual([]);
      const said = `${killed.output()}${story.gateway.output()}`;
      expect(repeatedDeliveries - before, said).toBeLessThanOrEqual(IN_FLIGHT);
    },
  );
});
