import { type Client, createClient } from "../../src/client/client.ts";
import type { DemoGateway } from "./demo-gateway.ts";
import type { DemoOutput } from "./demo-output.ts";
import type { DemoReceiver, ReceivedWebhook } from "./demo-receiver.ts";

/** What every step of the demo shares. */
export interface DemoContext {
  output: DemoOutput;
  gateway: DemoGateway;
  receiver: DemoReceiver;
  /** Where the gateway listens now. */
  url: string;
}

/** One side of the conversation. */
export interface DemoParticipant {
  id: number;
  name: string;
  phone: string;
  api_key: string;
  secret: string;
}

/** Waygate broke one of its promises; shown as one sentence. */
export class DemoFailure extends Error {
  override readonly name = "DemoFailure";
}

const TIMEOUT_MS = 60_000;

export function createParticipantClient({ url }: DemoContext, { api_key }: DemoParticipant): Client {
  return createClient({ baseUrl: url, apiKey: api_key });
}

/** Waits for a webhook, prints it, and requires valid signatures. */
export async function waitForWebhook(
  { receiver, output }: DemoContext,
  event: string,
  of: DemoParticipant,
  filter: (delivered: ReceivedWebhook) => boolean = () => true,
): Promise<ReceivedWebhook> {
  const isIt = (one: ReceivedWebhook) =>
    one.event.event === event && one.event.instance.id === of.id && filter(one);
  const found = await receiver.find(isIt, TIMEOUT_MS);
  if (!found)
    throw new DemoFailure(`The webhook ${event} of ${of.name} did not arrive within ${TIMEOUT_MS} ms.`);
  output.webhook(found);
  if (found.signed.own && found.signed.standard) return found;
  throw new DemoFailure(`The webhook ${event} of ${of.name} arrived with a wrong signature.`);
}

export async function waitUntil(
  condition: () => Promise<boolean> | boolean,
  promised: string,
  ms = TIMEOUT_MS,
): Promise<void> {
  const giveUpAt = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > giveUpAt)
      throw new DemoFailure(`${promised}: that did not happen within ${ms} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
