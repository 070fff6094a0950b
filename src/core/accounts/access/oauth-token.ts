import { createHash, randomBytes } from "node:crypto";

const PREFIXES = { access: "wgo_a_", refresh: "wgo_r_", code: "wgo_c_" } as const;
const BYTES = 32;
const SECRET = /^wgo_[arc]_[\w-]{43}$/;

type OAuthTokenKind = keyof typeof PREFIXES;

/** A new code or token: a prefix that names its kind, and 32 random bytes. */
export function createOAuthToken(kind: OAuthTokenKind): string {
  return PREFIXES[kind] + randomBytes(BYTES).toString("base64url");
}

/** Whether a text claims to be the access token of an assistant. */
export function isAssistantToken(text: string): boolean {
  return text.startsWith(PREFIXES.access);
}

/** What is stored of a code or token; undefined if the text cannot be one of this kind. */
export function digestOAuthToken(kind: OAuthTokenKind, text: string): Buffer | undefined {
  if (!text.startsWith(PREFIXES[kind]) || !SECRET.test(text)) return undefined;
  return createHash("sha256").update(text).digest();
}
