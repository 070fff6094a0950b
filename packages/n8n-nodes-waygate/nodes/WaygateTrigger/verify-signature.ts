import { createHmac, timingSafeEqual } from "node:crypto";

/** A request as the HTTP server of n8n has received it. */
export interface SignedRequest {
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw bytes, neither parsed nor serialised again. */
  body: Buffer;
}

/** The largest age, or lead, of a request in seconds. */
const TOLERANCE = 300;

/** Longer than any signature header of the gateway, which has two signatures at most. */
const MAX_HEADER_LENGTH = 4096;

/** Whether the gateway has signed a request with this secret in the last five minutes. It never throws. */
export function isGenuine({ headers, body }: SignedRequest, secret: string, now = new Date()): boolean {
  if (secret === "") return false;
  const id = readHeader(headers, "webhook-id");
  const sentAt = readHeader(headers, "webhook-timestamp");
  // An id has no dot: it would leave open where the signed time begins.
  if (!/^[\w-]{1,128}$/.test(id) || !/^\d{1,12}$/.test(sentAt)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(sentAt)) > TOLERANCE) return false;
  const expected = createHmac("sha256", keyOf(secret)).update(`${id}.${sentAt}.`).update(body).digest();
  // Whatever separates several signatures: a server may join repeated headers with commas.
  const received = readHeader(headers, "webhook-signature").matchAll(/v1,([A-Za-z0-9+/]{43}=)/g);
  return [...received].some(([, signature = ""]) =>
    timingSafeEqual(Buffer.from(signature, "base64"), expected),
  );
}

/** The value of a header, repeated ones joined; empty if it is absent or too long. */
function readHeader(headers: SignedRequest["headers"], name: string): string {
  const key = Object.keys(headers).find((one) => one.toLowerCase() === name) ?? name;
  const value = headers[key] ?? "";
  const text = typeof value === "string" ? value : value.join(" ");
  return text.length > MAX_HEADER_LENGTH ? "" : text;
}

/** The bytes after `whsec_`; a secret in another format is used unchanged. */
function keyOf(secret: string): Buffer {
  const encoded = secret.replace(/^whsec_/, "");
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0;
  return isBase64 ? Buffer.from(encoded, "base64") : Buffer.from(secret, "utf8");
}
