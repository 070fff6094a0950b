import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Allowed clock difference between two nodes plus transit time. */
const TOLERANCE_MS = 60_000;
/** A signature expires this long after its first arrival: the sender's clock may be ahead by the tolerance. */
export const SIGNATURE_LIFETIME_MS = 2 * TOLERANCE_MS;
/** 16 random bytes. */
const NONCE = /^[A-Za-z0-9_-]{22}$/;
const BYTES = "$bytes";
const DATE = "$date";

/** JSON that preserves bytes and dates. */
export function encodeMessage(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key: string, plain: unknown) {
    // JSON.stringify has already turned dates into text; the holder still has the Date.
    const real = this[key];
    if (real instanceof Date) return { [DATE]: real.toISOString() };
    if (real instanceof Uint8Array) return { [BYTES]: Buffer.from(real).toString("base64") };
    return plain;
  });
}

export function decodeMessage(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    const { [BYTES]: bytes, [DATE]: date } = value as Record<string, unknown>;
    if (typeof bytes === "string") return new Uint8Array(Buffer.from(bytes, "base64"));
    if (typeof date === "string") return new Date(date);
    return value;
  });
}

/** Identifies the request and its target node: each signature is valid only for this request. */
export interface NodeRpcIdentity {
  /** URL of the target node. */
  target: string;
  nonce: string;
}

export function newNonce(): string {
  return randomBytes(16).toString("base64url");
}

export function isNonce(text: string): boolean {
  return NONCE.test(text);
}

/** The text that the sender signs to prove its identity before its body is read. */
export function senderProofText({ target, nonce }: NodeRpcIdentity): string {
  return `call\n${new URL(target).origin}\n${nonce}`;
}

/** The text that the sender signs to bind the body to this request. */
export function signedContentText({ target, nonce }: NodeRpcIdentity, body: string): string {
  return `body\n${new URL(target).origin}\n${nonce}\n${body}`;
}

/** Proves that the sender knows the cluster's secret, for this text and this time. */
export function signMessage(secret: string, text: string, at: number = Date.now()): string {
  return `t=${at},v1=${digest(secret, `${at}.${text}`)}`;
}

export function isSignatureValid(
  secret: string,
  text: string,
  signature: string,
  now: number = Date.now(),
): boolean {
  const [, at, received] = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (at === undefined || received === undefined) return false;
  if (Math.abs(now - Number(at)) > TOLERANCE_MS) return false;
  return timingSafeEqual(Buffer.from(received), Buffer.from(digest(secret, `${at}.${text}`)));
}

function digest(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}
