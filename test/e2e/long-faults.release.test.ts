import { beforeAll, describe, expect, inject, test } from "vitest";
import type { Round, RoundFigures } from "../chaos/chaos-row.ts";
import { runRound } from "../chaos/chaos-row.ts";
import { killSameJob } from "../chaos/rows/f01-to-f04.ts";
import { freezeOwner } from "../chaos/rows/f18-double-start.ts";
import { stopInOrder } from "../chaos/rows/f19-stop.ts";
import { n3 } from "../chaos/rows/n3-three-nodes.ts";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { createE2eStory } from "./e2e-story.ts";
import { FLAWLESS, readHistory, sendAll } from "./send-history.ts";

beforeAll(buildDist);

/** Each test has its own story: they take long and mostly wait. */
describe.concurrent("long faults", () => {
  test.each<[string, (round: Round) => Promise<RoundFigures>]>([
    ["a delivery that dies again and again uses up no attempt", (round) => killSameJob(round, 3)],
    [
      "a stop under load, and with a receiver that hangs, loses nothing and delivers nothing twice",
      (round) => stopInOrder(round, 1),
    ],
    ["a node that stands still loses its session, and does nothing of the old when it wakes", freezeOwner],
    ["any of three nodes responds, streams all events, and is replaced when it is killed", n3.run],
  ])("%s", { timeout: 900_000 }, async (fault, run) => {
    const row = { id: fault, fault, run };
    const { breaches } = await runRound(row, { seed: fault, databaseUrl: inject("databaseUrl") });
    expect(breaches.join("\n")).toBe("");
  });

  test("rows that stay locked for a while cause no duplicate", { timeout: 900_000 }, async ({
    onTestFinished,
  }) => {
    const story = await createE2eStory();
    onTestFinished(() => story.end());
    await story.start();
    const instance = await story.pair();
    await story.drained();
    const somebody = await story.store.database.pool.connect();
    onTestFinished(() => somebody.release());
    // Before the sends, which the network acknowledges after 3 s.
    await somebody.query("begin; set local idle_in_transaction_session_timeout = 0");
    await somebody.query("select from webhook for update");
    await somebody.query("select from event_counter for update");
    const numbers = ["5521987650005", "5521987660005"];
    const slow = numbers.map((number) => ({ number, text: `to-${number}` }));
    const accepted = await sendAll(story, instance, slow);
    const arrivedAt = async () =>
      (
        await story.rows<{ at: Date }>("select at from sandbox.ledger where outcome = 'slow' order by id")
      ).map(({ at }) => at.getTime());
    await waitUntil(async () => (await arrivedAt()).length === slow.length);
    // A receipt would report the outcome although the acknowledgement was lost.
    await story.rows("delete from sandbox.inbox");
    const waiting = `select query_start from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database() order by query_start desc limit 1`;
    const waitingSince = async () =>
      (await story.rows<{ query_start: Date }>(waiting))[0]?.query_start.getTime() ?? 0;
    // The acknowledgements come after 3 s. Recording the outcome waits and is abandoned after 1 s.
    const last = Math.max(...(await arrivedAt()));
    await waitUntil(async () => (await waitingSince()) > last + 6_000);
    await somebody.query("commit");
    const history = await readHistory(story, accepted);
    expect(history).toMatchObject({ ...FLAWLESS, repeatedIds: 0, duplicateDeliveries: 0 });
  });
});
