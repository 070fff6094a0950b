/** What checking a webhook needs: the exact text that was signed, and the headers beside it. */
interface SignedWebhook {
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Whether the signature belongs to this body and this secret, as a receiver checks it. */
export async function verifySignature(secret: string, { headers, body }: SignedWebhook): Promise<boolean> {
  const [, sent = ""] = /^sha256=([0-9a-f]{64})$/.exec(headers["x-waygate-signature"] ?? "") ?? [];
  const text = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", text.encode(secret), algorithm, false, ["verify"]);
  const bytes = Uint8Array.from(sent.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return crypto.subtle.verify("HMAC", key, bytes, text.encode(body));
}

/** A page without HTTPS, except on the own machine, has no cryptography. */
export function canVerify(): boolean {
  return globalThis.crypto?.subtle !== undefined;
}
