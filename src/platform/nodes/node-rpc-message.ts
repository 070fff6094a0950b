import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Between the clocks of two nodes, and how long a call may be on its way. */
const TOLERANCE_MS = 60_000;
/** From its first arrival on, a signature is good for no longer: the clock of its sender may be ahead by the tolerance. */
export const SIGNATURE_LIFETIME_MS = 2 * TOLERANCE_MS;
/** 16 random bytes. */
const NONCE = /^[A-Za-z0-9_-]{22}$/;
const BYTES = "$bytes";
const DATE = "$date";

/** JSON that keeps bytes and dates. */
export function encodeMessage(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key: string, plain: unknown) {
    // JSON.stringify has turned dates into text already; the holder still has them.
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

/** Which call it is, and of which node: each signature of it holds for this one alone. */
export interface NodeRpcIdentity {
  /** Address of the node that is called. */
  target: string;
  nonce: string;
}

export function newNonce(): string {
  return randomBytes(16).toString("base64url");
}

export function isNonce(text: string): boolean {
  return NONCE.test(text);
}

/** What a caller signs so that it is known before its body is read. */
export function senderProofText({ target, nonce }: NodeRpcIdentity): string {
  return `call\n${new URL(target).origin}\n${nonce}`;
}

/** What a caller signs besides: that this body belongs to this call. */
export function signedContentText({ target, nonce }: NodeRpcIdentity, body: string): string {
  return `body\n${new URL(target).origin}\n${nonce}\n${body}`;
}

/** Proves that the sender knows the cluster's secret, for this text and this minute. */
export function signMessage(secret: string, text: string, at: number = Date.now()): string {
  return `t=${at},v1=${digest(secret, `${at}.${text}`)}`;
}

export function isSignatureValid(
  secret: string,
  text: string,
  signature: string,
  now: number = Date.now(),
): boolean {
  const [, at, given] = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (at === undefined || given === undefined) return false;
  if (Math.abs(now - Number(at)) > TOLERANCE_MS) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(digest(secret, `${at}.${text}`)));
}

function digest(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}
