import { readStoryLedgers } from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import type { Received } from "../../servers/receiver.ts";
import type { ChaosRow, Round, RoundFigures } from "../chaos-row.ts";
import { IN_FLIGHT, judge } from "../judge.ts";

export const f3: ChaosRow = {
  id: "F3",
  fault: "kill -9, 20 times in a row on the same delivery",
  run: (round) => killSameJob(round, 20),
};

/** Deaths use up no attempt: the next try has the number that it would have had. */
export async function killSameJob({ story: create }: Round, deaths: number): Promise<RoundFigures> {
  const story = await create();
  await story.start();
  const instance = await story.pair();
  await story.drained();
  story.receiver.respond(500);
  const said = (received: Received) => received.body.data?.message?.text === "deadly";
  await story.clientOf(instance).sandboxReceive({ id: instance.id, from: "5521966660000", text: "deadly" });
  const [first] = await story.receiver.waitFor(said, 1, 60_000);
  const event = first?.body.event_id;
  const ofEvent = "from job where ref ->> 'event_id' = $1";
  const attempts = async () =>
    (await story.rows<{ attempts: number }>(`select attempts ${ofEvent}`, event))[0]?.attempts ?? 0;
  await waitUntil(async () => (await attempts()) > 0);
  await story.gateway.kill();
  const before = story.receiver.received.filter(said).length;
  story.receiver.respond(200);
  await story.rows("update job set run_at = now() where ref ->> 'event_id' = $1", event);
  const tried = await attempts();
  for (let death = 1; death <= deaths; death++) await story.dieAt("delivery:before-connect:1");
  const after = await attempts();
  await story.start();
  const next = (await story.receiver.waitFor(said, before + 1, 60_000)).at(-1);
  const ledgers = await readStoryLedgers(story, { says: [{ key: "deadly", known: "ok" }] });
  const figures = judge(ledgers, { ...IN_FLIGHT, kills: deaths });
  const number = next?.headers["x-waygate-attempt"];
  const isUsedUp = after !== tried || number !== String(tried + 1);
  const told = `attempts before the deaths ${tried}, after them ${after}, number of the next try ${number}`;
  return {
    ...figures,
    breaches: [...figures.breaches, ...(isUsedUp ? [`deaths used up attempts: ${told}`] : [])],
  };
}
