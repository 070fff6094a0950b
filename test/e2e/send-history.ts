import { setTimeout as delay } from "node:timers/promises";
import { WaygateError } from "../../src/client.ts";
import type { E2eStory, PairedInstance } from "./e2e-story.ts";

/** A send that was answered with 202. */
export interface AcceptedSend {
  text: string;
  number: string;
  /** Row number: the order in which it was taken. */
  id: number;
  jobId: string;
  message_id: string;
}

export interface PlannedSend {
  text: string;
  number: string;
}

const AT_ONCE = 16;
const RETRY_MS = 20;

/** So many texts to so many people, told apart by their names. */
export function planSends(name: string, count: number, people: number): PlannedSend[] {
  return Array.from({ length: count }, (_, i) => ({
    text: `${name}-${i}`,
    number: `55219${String(7_000_000 + (i % people) * 10).padStart(8, "0")}7`,
  }));
}

/** Asks until every send is taken, with its key, also from the next process when one is killed. */
export async function sendAll(
  story: E2eStory,
  instance: PairedInstance,
  plan: readonly PlannedSend[],
): Promise<AcceptedSend[]> {
  const left = [...plan];
  const accepted: AcceptedSend[] = [];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      accepted.push(await sendUntilTaken(story, instance, next));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return accepted.sort((a, b) => a.id - b.id);
}

async function sendUntilTaken(
  story: E2eStory,
  instance: PairedInstance,
  planned: PlannedSend,
): Promise<AcceptedSend> {
  for (;;) {
    try {
      const input = { id: instance.id, ...planned, async: true };
      const answer = await story.clientOf(instance).sendText(input, { idempotencyKey: planned.text });
      if (!answer.queued) throw new Error("an async send was answered like a sync one");
      const { jobId, pendingMessageId, data } = answer;
      return { ...planned, jobId, message_id: pendingMessageId, id: data.message.id };
    } catch (error) {
      // A refusal for now, or no answer at all.
      if (error instanceof WaygateError && error.status !== 503) throw error;
      await delay(RETRY_MS);
    }
  }
}

/** What became of accepted sends, as the gateway, the network and the receiver tell it. */
export interface SendHistory {
  /** Accepted sends without an outcome event at the receiver. */
  lost: string[];
  /** Accepted sends with more than one outcome event. */
  decidedTwice: string[];
  /** Sends that the network saw under more than one id. */
  differentIds: string[];
  /** Arrivals at the network beyond the first of each id. */
  repeatedIds: number;
  /** Deliveries beyond the first of each event. */
  repeatedDeliveries: number;
  /** Events whose bytes differed between two deliveries. */
  differentBytes: string[];
  /** Sends that overtook an earlier one of their chat, at the network or at the receiver. */
  outOfOrder: string[];
}

export const FLAWLESS = { lost: [], decidedTwice: [], differentIds: [], differentBytes: [], outOfOrder: [] };

/** Waits until everything is done, then compares what the three sides saw. */
export async function readHistory(
  story: E2eStory,
  { phone }: PairedInstance,
  accepted: readonly AcceptedSend[],
): Promise<SendHistory> {
  await story.drained();
  const outcomes = story.receiver.received.filter(({ body }) => /^message\.(sent|failed)$/.test(body.event));
  const eventsOf = (send: AcceptedSend) =>
    new Set(outcomes.filter(({ body }) => body.data.jobId === send.jobId).map(({ body }) => body.event_id));
  const arrivals = await story.rows<{ text: string; message_id: string }>(
    `select content ->> 'text' as text, message_id from sandbox.ledger
     where action = 'send' and phone = $1 and outcome <> 'closed' order by id`,
    phone,
  );
  const idsOf = (send: AcceptedSend) =>
    arrivals.filter(({ text }) => text === send.text).map((row) => row.message_id);
  const sent = outcomes.map(({ body }) => body.data.message.text as string);
  return {
    lost: accepted.filter((send) => eventsOf(send).size === 0).map(({ text }) => text),
    decidedTwice: accepted.filter((send) => eventsOf(send).size > 1).map(({ text }) => text),
    differentIds: accepted
      .filter((send) => new Set([...idsOf(send), send.message_id]).size > 1)
      .map(({ text }) => text),
    repeatedIds: accepted.reduce((sum, send) => sum + Math.max(0, idsOf(send).length - 1), 0),
    ...compareDeliveries(story),
    outOfOrder: [
      ...findOvertaking(
        accepted,
        arrivals.map(({ text }) => text),
      ),
      ...findOvertaking(accepted, sent),
    ],
  };
}

/** How deliveries of one event compare with each other, over everything that the receiver got. */
export function compareDeliveries({
  receiver,
}: E2eStory): Pick<SendHistory, "repeatedDeliveries" | "differentBytes"> {
  const first = new Map<string, Buffer>();
  const differentBytes: string[] = [];
  let repeatedDeliveries = 0;
  for (const { body, raw } of receiver.received) {
    const before = first.get(body.event_id);
    if (!before) {
      first.set(body.event_id, raw);
      continue;
    }
    repeatedDeliveries += 1;
    if (!before.equals(raw)) differentBytes.push(body.event_id);
  }
  return { repeatedDeliveries, differentBytes };
}

/** Of each chat, those whose first appearance came before that of a send taken earlier. */
function findOvertaking(accepted: readonly AcceptedSend[], seen: readonly string[]): string[] {
  const place = new Map<string, number>();
  for (const [index, text] of seen.entries()) if (!place.has(text)) place.set(text, index);
  const latest = new Map<string, number>();
  const overtaking: string[] = [];
  for (const { text, number } of accepted) {
    const at = place.get(text) ?? Number.POSITIVE_INFINITY;
    if (at < (latest.get(number) ?? -1)) overtaking.push(text);
    latest.set(number, Math.max(at, latest.get(number) ?? -1));
  }
  return overtaking;
}
