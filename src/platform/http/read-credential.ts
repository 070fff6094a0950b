import { GatewayError } from "../gateway-error.ts";
import type { Credential } from "./handler.ts";

const KEY_HEADERS = new Set(["x-api-key", "token", "apikey"]);
const CREDENTIAL_HEADERS = new Set([
  ...KEY_HEADERS,
  "authorization",
  "proxy-authorization",
  "x-auth-token",
  "admintoken",
  "cookie",
]);
const QUERY_NAMES = new Set([
  "apikey",
  "api_key",
  "api-key",
  "x-api-key",
  "token",
  "access_token",
  "auth_token",
  "x-auth-token",
  "authorization",
  "bearer",
  "jwt",
  "admintoken",
  "admin_token",
]);
const KEY_IN_QUERY = /^wg_[A-Za-z0-9]{20,}$/;
const BEARER = /^bearer +(\S+)$/i;

/**
 * The credential of a request, if any. Takes raw headers to detect a header that is sent twice. Throws
 * VALIDATION_ERROR for two different credentials.
 */
export function readCredential(rawHeaders: readonly string[]): Credential | undefined {
  const found: Credential[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const credential = toCredential(rawHeaders[i]?.toLowerCase() ?? "", rawHeaders[i + 1]?.trim() ?? "");
    if (credential) found.push(credential);
  }
  const [first, ...others] = found;
  if (others.some((other) => other.value !== first?.value)) {
    throw new GatewayError("VALIDATION_ERROR", "The request has two different credentials. Send only one.");
  }
  return first;
}

function toCredential(header: string, text: string): Credential | undefined {
  if (text === "") return undefined;
  if (KEY_HEADERS.has(header)) return { kind: "key", value: text };
  if (header === "x-auth-token") return { kind: "bearer", value: text };
  if (header === "admintoken") return { kind: "admin", value: text };
  const value = header === "authorization" ? BEARER.exec(text)?.[1] : undefined;
  return value === undefined ? undefined : { kind: value.startsWith("wg_") ? "key" : "bearer", value };
}

/** Throws VALIDATION_ERROR if a query contains a credential: proxies log URLs. */
export function rejectCredentialsInQuery(query: Readonly<Record<string, unknown>>): void {
  const carried = Object.entries(query).some(
    ([name, value]) => QUERY_NAMES.has(name.toLowerCase()) || [value].flat().some(isKey),
  );
  if (!carried) return;
  throw new GatewayError(
    "VALIDATION_ERROR",
    "Credentials are not accepted in the query string. Send them in a header, and replace this one: it may have been logged.",
  );
}

function isKey(value: unknown): boolean {
  return typeof value === "string" && KEY_IN_QUERY.test(value);
}

/** The headers without credentials. */
export function withoutCredentials<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CREDENTIAL_HEADERS.has(name)));
}
