import type { FetchOutcome, SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import type { TraceParent } from "../../platform/tracing/trace-parent.ts";
import { ulid } from "../../platform/ulid.ts";
import type { LoadedDelivery } from "./delivery-loader.ts";
import { receiverUrl } from "./receiver-url.ts";
import { openHeaders, openSecrets, openToken } from "./webhook-record.ts";
import { signBody, signStandard, signWaha } from "./webhook-signature.ts";

/** One event for one webhook; all attempts send the same bytes. */
export type WebhookDelivery = Pick<LoadedDelivery, "event" | "webhook" | "isGlobal"> & {
  /** The event in the webhook's format. */
  body: Buffer;
  /** Number of this attempt, from 1. */
  attempt: number;
  /** The span of the attempt; undefined while tracing is off. */
  trace?: TraceParent | undefined;
};

export interface DeliverWebhookOptions {
  outgoing: SafeFetch;
  box: SecretBox;
  /** URL of this gateway, by which its own receiver is known. */
  baseUrl: string;
  timeoutMs: number;
  version: string;
}

/** What came of an attempt; `requestHeaders` only if the gateway's own receiver got it. */
export type DeliveryOutcome = FetchOutcome & { requestHeaders?: Record<string, string> };

const READ_AT_MOST_BYTES = 64 * 1024;

/** Posts once. Returns the receiver's errors instead of throwing. Removes echoed secrets. */
export async function deliverWebhook(
  options: DeliverWebhookOptions,
  delivery: WebhookDelivery,
): Promise<DeliveryOutcome> {
  const { outgoing, box, timeoutMs, version, baseUrl } = options;
  const { webhook, isGlobal, body, trace, event } = delivery;
  const secrets = openSecrets(webhook, box);
  const headers = openHeaders(webhook, box);
  const own = {
    ...deliveryHeaders(delivery, secrets, new Date()),
    ...(trace !== undefined && { traceparent: trace }),
    "user-agent": `Waygate-Webhooks/${version}`,
  };
  if (webhook.url === receiverUrl(baseUrl, event.instance_id)) return receiveHere(own);
  const outcome = await outgoing.fetch({
    url: webhook.url,
    method: "POST",
    headers: { ...(trace === undefined ? headers : withoutTraceContext(headers)), ...own },
    body,
    totalMs: timeoutMs,
    maxBytes: READ_AT_MOST_BYTES,
    policyKey: isGlobal ? "operator" : "tenant",
    tenant: { instance_id: delivery.event.instance_id },
    // The lane limits its own requests, but many webhooks of many customers may use one host.
    isPaced: true,
  });
  if (outcome.outcome === "failed") return outcome;
  const token = openToken(webhook, box);
  const known = [...secrets, ...Object.values(headers), ...(token === null ? [] : [token])];
  return { ...outcome, body: withoutSecrets(outcome.body, known) };
}

/** The gateway's own receiver accepts all, without the network: no request leaves the process. */
function receiveHere(requestHeaders: Record<string, string>): DeliveryOutcome {
  const response = { status: 200, headers: {}, body: Buffer.alloc(0), truncated: false, durationMs: 0 };
  return { outcome: "response", ...response, requestHeaders };
}

/** Headers that let a receiver verify, deduplicate and route without parsing the body. */
function deliveryHeaders(
  { event: { event_id, event, instance_id }, webhook, body, attempt }: WebhookDelivery,
  secrets: readonly [string, ...string[]],
  at: Date,
): Record<string, string> {
  const seconds = Math.floor(at.getTime() / 1000);
  const [secret, previous] = secrets;
  const delivery = `dlv_${ulid(at)}`;
  return {
    "content-type": "application/json; charset=utf-8",
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
    ...(webhook.format === "waha" && wahaHeaders(secret, body, delivery, at)),
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

function withoutSecrets(body: Buffer, secrets: readonly string[]): Buffer {
  const text = body.toString("latin1");
  const shown = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((masked, secret) => masked.replaceAll(secret, "****"), text);
  return shown === text ? body : Buffer.from(shown, "latin1");
}
