import { setTimeout as delay } from "node:timers/promises";
import { WaygateError } from "../../src/client/client.ts";
import { waitUntil } from "../gateway.ts";
import { checkLedgers, type LedgerFindings } from "./checker.ts";
import type { E2eStory, PairedInstance } from "./e2e-story.ts";
import { type ClientSend, type LedgerSources, type Ledgers, readLedgers } from "./ledgers.ts";

/** A send with a 202. */
export interface AcknowledgedSend {
  text: string;
  number: string;
  /** Row number, which gives the order of acceptance. */
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

/** `count` distinct texts to `personCount` contacts. */
export function planSends(name: string, count: number, personCount: number): PlannedSend[] {
  return Array.from({ length: count }, (_, i) => ({
    text: `${name}-${i}`,
    number: `55219${String(7_000_000 + (i % personCount) * 10).padStart(8, "0")}7`,
  }));
}

/** Retries each send with its key until it is accepted, across restarts. */
export async function sendAll(
  story: E2eStory,
  instance: PairedInstance,
  plan: readonly PlannedSend[],
): Promise<AcknowledgedSend[]> {
  const left = [...plan];
  const accepted: AcknowledgedSend[] = [];
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
): Promise<AcknowledgedSend> {
  for (;;) {
    try {
      return await sendOnce(story, instance, planned, planned.text);
    } catch (error) {
      // A temporary refusal, an unknown outcome, or no response.
      if (error instanceof WaygateError && ![503, 504].includes(error.status)) throw error;
      await delay(RETRY_MS);
    }
  }
}

/** Sends one request. Rejects unless it returns 202. */
export async function sendOnce(
  story: E2eStory,
  instance: PairedInstance,
  planned: PlannedSend,
  idempotencyKey?: string,
): Promise<AcknowledgedSend> {
  const input = { id: instance.id, ...planned, async: true };
  const response = await story.clientOf(instance).sendText(input, { idempotencyKey });
  if (!response.queued) throw new Error("an async send was answered like a sync one");
  const { jobId, pendingMessageId, data } = response;
  return { ...planned, jobId, message_id: pendingMessageId, id: data.message.id };
}

/** Findings of a flawless run, without the counts of permitted repeats. */
export const FLAWLESS = {
  lostEvents: [],
  givenUp: [],
  lostSends: [],
  failedSends: [],
  unexpected: [],
  repeatedEffects: [],
  untrue: [],
  differentIds: [],
  outOfOrder: [],
} satisfies Partial<LedgerFindings>;

/** Accepted sends in the client's ledger. */
export function toClientSends(accepted: readonly AcknowledgedSend[]): ClientSend[] {
  return accepted.map(toClientSend);
}

export function toClientSend({ text, number, id, jobId, message_id }: AcknowledgedSend): ClientSend {
  return { key: text, chat: number, known: "ok", order: id, job_id: jobId, message_id };
}

/** A send that was refused and is not repeated. */
export function toRefused({ text, number }: PlannedSend): ClientSend {
  return { key: text, chat: number, known: "fail" };
}

/** Waits until all queues are empty and compares the four ledgers. */
export async function readHistory(
  story: E2eStory,
  accepted: readonly AcknowledgedSend[],
): Promise<LedgerFindings> {
  return checkLedgers(await readStoryLedgers(story, { sends: toClientSends(accepted) }));
}

/** The ledgers of a story once all work is done and nothing more arrives. */
export async function readStoryLedgers(
  story: E2eStory,
  reported: Pick<LedgerSources, "sends" | "says" | "network">,
): Promise<Ledgers> {
  const { rows, receiver } = story;
  let before: Ledgers | undefined;
  for (;;) {
    // Messages that the network still holds become events and jobs.
    await waitUntil(async () => (await rows("select from sandbox.inbox limit 1")).length === 0, 300_000);
    await story.drained(300_000);
    const now = await readLedgers({ rows, receiver, ...reported });
    if (before && isAsLong(now.events, before.events) && isAsLong(now.receptions, before.receptions))
      return now;
    before = now;
  }
}

function isAsLong(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length;
}
