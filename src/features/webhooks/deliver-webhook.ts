import type { FetchOutcome, SafeFetch } from "../../platform/safe-fetch.ts";
import type { SecretBox } from "../../platform/secret-box.ts";
import { ulid } from "../../platform/ulid.ts";
import type { LoadedDelivery } from "./load-delivery.ts";
import { signBody, signStandard } from "./signature.ts";
import { openHeaders, openSecrets } from "./webhook-record.ts";

/** One event on its way to one webhook, whose body has the same bytes at every try. */
export type Delivery = Pick<LoadedDelivery, "event" | "webhook" | "isGlobal"> & {
  /** Number of this try, from 1. */
  attempt: number;
};

export interface DeliverOptions {
  outgoing: SafeFetch;
  box: SecretBox;
  timeoutMs: number;
  version: string;
}

const READ_AT_MOST_BYTES = 64 * 1024;

/** Posts once; the receiver's trouble is a value, never an exception. Secrets that it echoes are not kept. */
export async function deliverWebhook(options: DeliverOptions, delivery: Delivery): Promise<FetchOutcome> {
  const { outgoing, box, timeoutMs, version } = options;
  const { event, webhook, isGlobal } = delivery;
  const secrets = openSecrets(webhook, box);
  const headers = openHeaders(webhook, box);
  const outcome = await outgoing.fetch({
    url: webhook.url,
    method: "POST",
    headers: {
      ...headers,
      ...deliveryHeaders(delivery, secrets, new Date()),
      "user-agent": `Waygate-Webhooks/${version}`,
    },
    body: event.body,
    totalMs: timeoutMs,
    maxBytes: READ_AT_MOST_BYTES,
    whose: isGlobal ? "operator" : "tenant",
    // By the width of its lane; many webhooks of many customers may lead to one host.
    isPaced: true,
  });
  if (outcome.outcome === "failed") return outcome;
  return { ...outcome, body: withoutSecrets(outcome.body, [...secrets, ...Object.values(headers)]) };
}

/** Everything a receiver needs to verify, to deduplicate and to route without parsing the body. */
function deliveryHeaders(
  { event: { event_id, event, instance_id, body }, attempt }: Delivery,
  secrets: readonly [string, ...string[]],
  at: Date,
): Record<string, string> {
  const seconds = Math.floor(at.getTime() / 1000);
  const [secret, previous] = secrets;
  return {
    "content-type": "application/json; charset=utf-8",
    "x-waygate-signature": signBody(secret, body),
    ...(previous !== undefined && { "x-waygate-signature-previous": signBody(previous, body) }),
    "x-waygate-event": event,
    "x-waygate-event-id": event_id,
    "x-waygate-delivery": `dlv_${ulid(at)}`,
    "x-waygate-attempt": String(attempt),
    "x-waygate-timestamp": String(seconds),
    "x-waygate-instance": `inst_${instance_id}`,
    "webhook-id": event_id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": secrets.map((key) => signStandard(key, event_id, seconds, body)).join(" "),
  };
}

const SHORTEST_SECRET = 8;

function withoutSecrets(body: Buffer, secrets: readonly string[]): Buffer {
  const text = body.toString("latin1");
  const shown = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((rest, secret) => rest.replaceAll(secret, "****"), text);
  return shown === text ? body : Buffer.from(shown, "latin1");
}
