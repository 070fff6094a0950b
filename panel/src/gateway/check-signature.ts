/** A delivery as the user pastes it. */
export interface SignatureClaim {
  secret: string;
  body: string;
  /** `webhook-id`. */
  eventId: string;
  /** `X-Waygate-Signature` or `webhook-signature`; empty only computes the expected ones. */
  signature: string;
  /** `webhook-timestamp` in seconds; the standard signature covers it. */
  timestamp: string;
}

export interface SignatureCheck {
  /** Expected `X-Waygate-Signature`. */
  body: string;
  /** Expected `webhook-signature`; undefined without a timestamp. */
  standard: string | undefined;
  /** Undefined without a signature, or without the timestamp that it needs. */
  isGenuine: boolean | undefined;
}

/** Computes the signatures of a delivery in the browser. The secret never leaves the page. */
export async function checkSignature(claim: SignatureClaim): Promise<SignatureCheck> {
  const secret = claim.secret.trim();
  const given = claim.signature.trim();
  const bytes = new TextEncoder();
  const body = `sha256=${toHex(await sign(bytes.encode(secret), bytes.encode(claim.body)))}`;
  const isTimed = /^\d{1,12}$/.test(claim.timestamp.trim());
  const signed = `${claim.eventId}.${claim.timestamp.trim()}.${claim.body}`;
  const mac = isTimed ? await sign(standardKey(secret), bytes.encode(signed)) : undefined;
  const standard = mac && `v1,${btoa(String.fromCharCode(...mac))}`;
  return { body, standard, isGenuine: compare(given, body, standard) };
}

function compare(given: string, body: string, standard: string | undefined): boolean | undefined {
  if (given === "") return undefined;
  if (!given.startsWith("v1,")) return given === body;
  return standard === undefined ? undefined : given.split(/\s+/).includes(standard);
}

async function sign(key: Uint8Array<ArrayBuffer>, data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, data));
}

/** The key after `whsec_`; any other secret is used as bytes. */
function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = secret.replace(/^whsec_/, "");
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0;
  return isBase64
    ? Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0))
    : new TextEncoder().encode(secret);
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Web Crypto needs HTTPS or localhost. */
export function canCheckSignatures(): boolean {
  return globalThis.crypto?.subtle !== undefined;
}
