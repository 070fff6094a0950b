import type { E2eStory } from "../../e2e/e2e-story.ts";
import {
  type AcknowledgedSend,
  planSends,
  readStoryLedgers,
  sendAll,
  toClientSends,
} from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import type { ChaosRow, Round, RoundFigures } from "../chaos-row.ts";
import { IN_FLIGHT, toRoundFigures } from "../report.ts";

const STOP_SECONDS = 25;

export const f19: ChaosRow = {
  id: "F19",
  fault: "SIGTERM under load, twice, and with a receiver that hangs and a network that is silent",
  run: (round) => stopInOrder(round, 2),
};

/** Stops `stopsUnderLoad` times under load, and once while a receiver hangs and the network does not respond. */
export async function stopInOrder({ story: create }: Round, stopsUnderLoad: number): Promise<RoundFigures> {
  const story = await create();
  const stops: Stop[] = [];
  await story.start();
  const instance = await story.pair();
  const sending: Promise<AcknowledgedSend[]>[] = [];
  for (let stop = 1; stop <= stopsUnderLoad; stop++) {
    const soFar = story.receiver.received.length;
    sending.push(sendAll(story, instance, planSends(`stop-${stop}`, 200, 20)));
    await waitUntil(() => story.receiver.received.length > soFar + 20, 60_000);
    stops.push(await stopGateway(story, "under load"));
    await story.start();
  }
  const accepted = (await Promise.all(sending)).flat();
  await story.drained(300_000);
  const client = story.clientOf(instance);
  story.receiver.respond(() => {});
  await client.sandboxReceive({ id: instance.id, from: "5521955554444", text: "to one that hangs" });
  await story.receiver.waitFor(({ body }) => body.data.message?.text === "to one that hangs", 1, 60_000);
  const silent = { id: instance.id, number: "5521977770002", text: "silent" };
  const waiting = client.sendText(silent).catch((error: unknown) => error);
  const submitted = "select 1 from message where content ->> 'text' = 'silent' and submitted_at is not null";
  await waitUntil(async () => (await story.rows(submitted)).length === 1, 60_000);
  stops.push(await stopGateway(story, "with a receiver that hangs"));
  const response = (await waiting) as { code?: string; details?: { sent?: unknown } };
  story.receiver.respond(200);
  await story.start();
  const ledgers = await readStoryLedgers(story, {
    sends: [...toClientSends(accepted), { key: "silent", chat: silent.number, known: "unknown" }],
    says: [{ key: "to one that hangs", known: "ok" }],
  });
  // Without an acknowledgement, a message is sent again under its id until its hold time ends.
  const confirmed = ledgers.network.filter(({ key }) => key !== silent.text);
  const unconfirmed = ledgers.network.filter(({ key }) => key === silent.text).slice(0, 1);
  const network = [...confirmed, ...unconfirmed];
  const figures = toRoundFigures({ ...ledgers, network }, { ...IN_FLIGHT, kills: 0 });
  const isReported = response.code === "SEND_TIMEOUT" && response.details?.sent === "unknown";
  return withStops(figures, stops, isReported ? [] : [`the sync send got ${JSON.stringify(response)}`]);
}

interface Stop {
  what: string;
  seconds: number;
  end: string;
}

async function stopGateway({ gateway }: E2eStory, what: string): Promise<Stop> {
  const began = performance.now();
  const { code, signal } = await gateway.kill("SIGTERM");
  return { what: `exit ${what}`, seconds: (performance.now() - began) / 1000, end: String(code ?? signal) };
}

function withStops(figures: RoundFigures, stops: Stop[], more: string[]): RoundFigures {
  // A stop that timed out is judged by its duration.
  const ended = stops.filter(({ seconds }) => seconds < STOP_SECONDS);
  const bad = ended.filter(({ end }) => end !== "0").map(({ what, end }) => `${what} ended with ${end}`);
  return {
    ...figures,
    times: stops.map(({ what, seconds }) => ({ what, seconds, bar: STOP_SECONDS })),
    breaches: [...figures.breaches, ...bad, ...more],
  };
}
