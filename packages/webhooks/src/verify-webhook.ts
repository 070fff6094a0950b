import type { WebhookMessage } from "./webhook-message.ts";

export type { WebhookMessage } from "./webhook-message.ts";

/** A webhook as received: the raw body, neither parsed nor serialised again. */
export interface WebhookRequest {
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  body: string | Uint8Array;
}

export interface VerifyWebhookOptions {
  /** The secret of the webhook; several during a rotation. */
  secret: string | readonly string[];
  /**
   * `standard` (default): the `webhook-*` headers cover id, time and body, so an old request is rejected.
   * `body`: `X-Waygate-Signature`, or the header for the previous secret, covers only the body.
   */
  scheme?: "standard" | "body";
  /** Largest age, or lead, of a request under `standard`; 300 s by default. */
  toleranceSeconds?: number;
  now?: Date;
}

/** What the gateway sends to a webhook of the format `native`. */
export interface WebhookEvent {
  /** The same for every attempt: store it and skip events that you have handled. */
  event_id: string;
  event: string;
  /** Counts the events of the instance, without gaps. */
  sequence: number;
  timestamp: string;
  account_id: number;
  instance: { id: number; name: string; phone: string | null; metadata: Record<string, unknown> };
  data: { message?: WebhookMessage; [field: string]: unknown };
  /** Long texts are truncated; the message log has the full text. */
  truncated?: boolean;
}

/** The request is not from the gateway, or too old; the message says which. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

/**
 * Returns the event of a genuine request or throws WebhookVerificationError. Needs WebCrypto (Node 20,
 * browser).
 */
export async function verifyWebhook<Event = WebhookEvent>(
  { headers, body }: WebhookRequest,
  { secret, scheme = "standard", toleranceSeconds = 300, now = new Date() }: VerifyWebhookOptions,
): Promise<Event> {
  const secrets = (typeof secret === "string" ? [secret] : secret).filter((one) => one !== "");
  if (secrets.length === 0) throw new TypeError("verifyWebhook needs the secret of the webhook.");
  const read = (name: string) => readHeader(headers, name);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const isGenuine =
    scheme === "body"
      ? await isBodySigned(bytes, secrets, read)
      : await isStandardSigned(bytes, secrets, read, { toleranceSeconds, now });
  if (!isGenuine)
    throw new WebhookVerificationError(
      "The signature does not match: check the webhook's secret, and pass the body as the raw bytes that arrived.",
    );
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Event;
  } catch {
    throw new WebhookVerificationError("The body is not JSON.");
  }
}

type ReadHeader = (name: string) => string;

/** Longer than any signature header of the gateway, which has two signatures at most. */
const MAX_HEADER_LENGTH = 4096;

/** The value of a header, repeated ones joined; empty if it is absent or too long. */
function readHeader(headers: WebhookRequest["headers"], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[keyOf(headers, name)];
  const text = typeof value === "object" && value !== null ? value.join(" ") : (value ?? "");
  return text.length > MAX_HEADER_LENGTH ? "" : text;
}

function keyOf(headers: object, name: string): string {
  return Object.keys(headers).find((one) => one.toLowerCase() === name) ?? name;
}

async function isBodySigned(body: Uint8Array, secrets: readonly string[], read: ReadHeader) {
  const received = ["x-waygate-signature", "x-waygate-signature-previous"]
    .map(read)
    .filter((one) => one !== "");
  if (received.length === 0)
    throw new WebhookVerificationError("X-Waygate-Signature is missing or malformed.");
  return isAnySigned(received.map(fromHex), secrets.map(encode), body);
}

async function isStandardSigned(
  body: Uint8Array,
  secrets: readonly string[],
  read: ReadHeader,
  { toleranceSeconds, now }: { toleranceSeconds: number; now: Date },
) {
  const [id, sentAt, received] = [read("webhook-id"), read("webhook-timestamp"), read("webhook-signature")];
  // An id has no dot: it would leave open where the signed time begins.
  if (!/^[\w-]{1,128}$/.test(id) || !/^\d{1,12}$/.test(sentAt) || received === "") {
    throw new WebhookVerificationError(
      "webhook-id, webhook-timestamp or webhook-signature is missing or malformed.",
    );
  }
  if (Math.abs(now.getTime() / 1000 - Number(sentAt)) > toleranceSeconds) {
    throw new WebhookVerificationError(
      "The timestamp is outside the tolerance: check the clock of this machine.",
    );
  }
  // Whatever separates several signatures: a server may join repeated headers with commas.
  const signatures = [...received.matchAll(/v1,([A-Za-z0-9+/]{43}=)/g)].map(([, one = ""]) =>
    fromBase64(one),
  );
  const start = encode(`${id}.${sentAt}.`);
  const signed = new Uint8Array(start.length + body.length);
  signed.set(start);
  signed.set(body, start.length);
  return isAnySigned(signatures, secrets.map(standardKey), signed);
}

/** `verify` of WebCrypto compares in constant time. */
async function isAnySigned(
  signatures: readonly (Uint8Array<ArrayBuffer> | undefined)[],
  keys: readonly Uint8Array<ArrayBuffer>[],
  signed: Uint8Array,
): Promise<boolean> {
  const data = Uint8Array.from(signed);
  for (const bytes of keys) {
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", bytes, hmac, false, ["verify"]);
    for (const signature of signatures) {
      if (signature && (await crypto.subtle.verify("HMAC", key, signature, data))) return true;
    }
  }
  return false;
}

/** The bytes after `whsec_`; a secret in another format is used unchanged. */
function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = secret.replace(/^whsec_/, "");
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0;
  return isBase64 ? fromBase64(encoded) : encode(secret);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function fromHex(signature: string): Uint8Array<ArrayBuffer> | undefined {
  const [, digits = ""] = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(signature) ?? [];
  const pairs = digits.match(/../g);
  return pairs === null ? undefined : Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new TextEncoder().encode(text));
}
