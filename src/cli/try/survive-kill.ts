import type { Client } from "../../client/client.ts";
import { CommandError } from "../command-error.ts";
import { readField } from "../read-field.ts";
import type { TemporaryGateway } from "./start-temporary-gateway.ts";
import type { VerifiedEvents } from "./verified-events.ts";

const TEXTS = 20;
const OUTCOMES_WITHIN_MS = 120_000;

/**
 * Queues texts, kills the gateway, starts it again, and waits until each text has its outcome. Throws CommandError if a
 * text has none, or two.
 */
export async function surviveKill(
  gateway: TemporaryGateway,
  { client, id }: { client: Client; id: number },
  { number, events, signal }: { number: string; events: VerifiedEvents; signal: AbortSignal },
): Promise<string> {
  const texts = Array.from({ length: TEXTS }, (_, n) => `Queued text ${n + 1}`);
  const accepted = await Promise.all(texts.map((text) => client.sendText({ id, number, text, async: true })));
  const pid = await gateway.killAndRestart();
  for (const { jobId } of accepted) {
    const isOutcome = (event: unknown): boolean => readField(event, "data", "jobId") === jobId;
    const found = await events.find(isOutcome, { withinMs: OUTCOMES_WITHIN_MS, signal });
    signal.throwIfAborted();
    if (found === undefined) throw new CommandError("An accepted text has no outcome.");
    if (events.count(isOutcome) > 1) throw new CommandError("An accepted text has two outcomes.");
  }
  return `${TEXTS} texts were accepted with 202, and kill -9 ended process ${pid}. After the restart each has one outcome.`;
}
