/** The network's request for a passkey signature: `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly rpId: string | undefined;
  /** How long the network waits for the assertion. */
  readonly timeoutMs: number;
  /** The complete options, for the browser. */
  readonly json: Record<string, unknown>;
}

const MAX_BYTES = 16_384;
const MAX_DEPTH = 20;
const MAX_CHALLENGE = 1_024;
const MAX_HOST = 253;
const DEFAULT_TIMEOUT_MS = 600_000;
const MIN_TIMEOUT_MS = 10_000;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** Undefined for options that a browser would not accept. */
export function readPasskeyOptions(content: unknown): PasskeyOptions | undefined {
  if (!(content instanceof Uint8Array) || content.length === 0 || content.length > MAX_BYTES)
    return undefined;
  const json = parseObject(Buffer.from(content).toString());
  if (!json || !isShallow(json, MAX_DEPTH)) return undefined;
  const { challenge, rpId, timeout } = json;
  if (typeof challenge !== "string" || challenge.length > MAX_CHALLENGE) return undefined;
  if (!BASE64URL.test(challenge)) return undefined;
  if (rpId !== undefined && (typeof rpId !== "string" || rpId.length > MAX_HOST)) return undefined;
  return { challenge, rpId, timeoutMs: timeoutOf(timeout), json };
}

/** Rejects deep nesting, which cannot be serialised to JSON again. */
function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** Parses a JSON text that contains an object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function timeoutOf(timeout: unknown): number {
  if (typeof timeout !== "number" || !Number.isFinite(timeout)) return DEFAULT_TIMEOUT_MS;
  return Math.min(Math.max(timeout, MIN_TIMEOUT_MS), DEFAULT_TIMEOUT_MS);
}
