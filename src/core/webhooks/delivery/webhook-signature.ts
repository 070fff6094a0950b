import { createHmac } from "node:crypto";

/** `sha256=<hex>`: HMAC-SHA256 of the raw body, keyed with the whole secret string. */
export function signBody(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/**
 * Standard Webhooks, "Signature scheme": `v1,<base64>` of the HMAC-SHA256 of `id.timestamp.body`, keyed with
 * the decoded bytes of the secret. A secret that is not `whsec_` and base64 is itself the key.
 */
export function signStandard(secret: string, id: string, timestampSeconds: number, body: Uint8Array): string {
  const signature = createHmac("sha256", standardKey(secret))
    .update(`${id}.${timestampSeconds}.`)
    .update(body)
    .digest("base64");
  return `v1,${signature}`;
}

function standardKey(secret: string): Buffer {
  const encoded = secret.startsWith("whsec_") ? secret.slice("whsec_".length) : secret;
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0;
  return isBase64 ? Buffer.from(encoded, "base64") : Buffer.from(secret, "utf8");
}

/** As receivers of WAHA know it: hex HMAC-SHA512 of the raw body. */
export function signWaha(secret: string, body: Buffer): string {
  return createHmac("sha512", secret).update(body).digest("hex");
}
