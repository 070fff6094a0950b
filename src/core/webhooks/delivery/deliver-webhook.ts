import type { SecretBox } from "../../../platform/secrets/secret-box.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import { ulid } from "../../../platform/ulid.ts";
import { type DeliveryOutcome, type Destinations, destinationOf } from "../destinations/destination.ts";
import { passwordOf } from "../destinations/masked-password.ts";
import { ownReceiverUrl } from "../own-receiver-url.ts";
import { openHeaders, openSecrets, openToken } from "../webhook-record.ts";
import type { LoadedDelivery } from "./delivery-loader.ts";
import { signBody, signStandard, signWaha } from "./webhook-signature.ts";

/** One event for one webhook; all attempts send the same bytes. */
export type WebhookDelivery = Pick<LoadedDelivery, "event" | "webhook" | "isGlobal"> & {
  /** The event in the webhook's format. */
  body: Buffer;
  contentType: string;
  /** Number of this attempt, from 1. */
  attempt: number;
  /** The span of the attempt; undefined while tracing is off. */
  trace?: TraceParent | undefined;
};

export interface DeliverWebhookOptions {
  destinations: Destinations;
  box: SecretBox;
  /** URL of this gateway, by which its own receiver is known. */
  baseUrl: string;
  timeoutMs: number;
  version: string;
}

/** Sends once. Returns the receiver's errors instead of throwing. Removes echoed secrets. */
export async function deliverWebhook(
  options: DeliverWebhookOptions,
  delivery: WebhookDelivery,
): Promise<DeliveryOutcome> {
  const { destinations, box, timeoutMs, version, baseUrl } = options;
  const { webhook, isGlobal, body, trace, event } = delivery;
  const secrets = openSecrets(webhook, box);
  const headers = openHeaders(webhook, box);
  const at = new Date();
  const attempt_id = `dlv_${ulid(at)}`;
  const own = {
    ...deliveryHeaders(delivery, secrets, attempt_id, at),
    ...(webhook.format === "waha" && wahaHeaders(secrets[0], body, attempt_id, at)),
    ...(trace !== undefined && { traceparent: trace }),
    "user-agent": `Waygate-Webhooks/${version}`,
  };
  if (webhook.url === ownReceiverUrl(baseUrl, event.instance_id)) return receiveHere(own);
  const outcome = await destinationOf(destinations, webhook.url).send({
    url: webhook.url,
    headers: { ...(trace === undefined ? headers : withoutTraceContext(headers)), ...own },
    body,
    event_id: event.event_id,
    event: event.event,
    instance_id: event.instance_id,
    chat: event.chat,
    attempt_id,
    totalMs: timeoutMs,
    owner: isGlobal ? "operator" : "tenant",
  });
  const known = () => {
    const token = openToken(webhook, box);
    return [...secrets, ...Object.values(headers), ...(token === null ? [] : [token])];
  };
  if (outcome.outcome === "response") {
    const text = outcome.body.toString("latin1");
    const shown = withoutSecrets(text, known());
    return shown === text ? outcome : { ...outcome, body: Buffer.from(shown, "latin1") };
  }
  if (outcome.outcome === "failed" && outcome.failure === "rejected")
    return {
      ...outcome,
      error: withoutSecrets(outcome.error, [...known(), decodeURIComponent(passwordOf(webhook.url))]),
    };
  return outcome;
}

/** The gateway's own receiver accepts all, without the network: no request leaves the process. */
function receiveHere(requestHeaders: Record<string, string>): DeliveryOutcome {
  const response = { status: 200, headers: {}, body: Buffer.alloc(0), truncated: false, durationMs: 0 };
  return { outcome: "response", ...response, requestHeaders };
}

interface SignedDelivery extends Pick<WebhookDelivery, "body" | "contentType" | "attempt"> {
  event: Pick<LoadedDelivery["event"], "event_id" | "event" | "instance_id">;
}

/** Headers that let a receiver verify, deduplicate and route without parsing the body. */
export function deliveryHeaders(
  { event: { event_id, event, instance_id }, body, contentType, attempt }: SignedDelivery,
  secrets: readonly [string, ...string[]],
  delivery: string,
  at: Date,
): Record<string, string> {
  const seconds = Math.floor(at.getTime() / 1000);
  const [secret, previous] = secrets;
  return {
    "content-type": contentType,
    "x-waygate-signature": signBody(secret, body),
    ...(previous !== undefined && { "x-waygate-signature-previous": signBody(previous, body) }),
    "x-waygate-event": event,
    "x-waygate-event-id": event_id,
    "x-waygate-delivery": delivery,
    "x-waygate-attempt": String(attempt),
    "x-waygate-timestamp": String(seconds),
    "x-waygate-instance": `inst_${instance_id}`,
    "webhook-id": event_id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": secrets.map((key) => signStandard(key, event_id, seconds, body)).join(" "),
  };
}

/** The headers of WAHA, with its signature by the webhook's secret. */
function wahaHeaders(secret: string, body: Buffer, delivery: string, at: Date): Record<string, string> {
  return {
    "x-webhook-request-id": delivery,
    "x-webhook-timestamp": String(at.getTime()),
    "x-webhook-hmac": signWaha(secret, body),
    "x-webhook-hmac-algorithm": "sha512",
  };
}

/** The webhook's own headers of this kind would contradict the trace. */
function withoutTraceContext(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^trace(parent|state)$/i.test(name)));
}

const SHORTEST_SECRET = 8;

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((masked, secret) => masked.replaceAll(secret, "****"), text);
}
