import type { FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../../gateway-error.ts";
import type { Authorise, AuthoriseRequest, Caller, Credential } from "../handler.ts";
import type { Route } from "../route.ts";
import { readSessionCookie } from "../session-cookie.ts";
import { isInProcess } from "./mark-in-process.ts";

const ROW_ID = /^[1-9]\d{0,15}$/;
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

type Fields = Record<string, unknown>;

/** Identifies the caller by the request's single credential. Throws the error of the central access check. */
export async function identifyCaller(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  authorise: Authorise,
  { isRecheck = false } = {},
): Promise<Caller> {
  rejectCredentialsInQuery(request.query as Fields);
  const credential = readCredential(request.raw.rawHeaders) ?? readSession(request.raw.rawHeaders);
  const responseHeaders: Record<string, string> = {};
  const pathToken = route.pathToken && toPathToken(request.params as Fields);
  const authorisation: AuthoriseRequest = {
    credential,
    pathToken,
    ip: request.ip,
    responseHeaders,
    isRecheck,
    isInProcess: isInProcess(request.raw),
  };
  try {
    if (route.access === "public") return await identifyOnPublic(route, authorisation, authorise);
    const instanceId = route.access === "instance" ? toInstanceId(request.params as Fields) : undefined;
    return await authorise(
      route,
      instanceId === undefined ? authorisation : { ...authorisation, instanceId },
    );
  } finally {
    if (!isRecheck) reply.headers(responseHeaders);
  }
}

/** The session of the panel, if the request has no other credential. */
function readSession(rawHeaders: readonly string[]): Credential | undefined {
  const value = readSessionCookie(rawHeaders);
  return value === undefined ? undefined : { kind: "session", value };
}

/** A public route may return more to an operator; every other caller is an ordinary public one. */
async function identifyOnPublic(
  route: Route,
  authorisation: AuthoriseRequest,
  authorise: Authorise,
): Promise<Caller> {
  if (authorisation.credential?.kind !== "admin" || route.pathToken) return authorise(route, authorisation);
  try {
    return await authorise({ ...route, access: "admin" }, authorisation);
  } catch (error) {
    if (error instanceof GatewayError) return authorise(route, authorisation);
    throw error;
  }
}

function toPathToken(params: Fields): { instanceId: number; token: string } {
  return { instanceId: toInstanceId(params), token: String(params.token) };
}

/** 0 if the path names no instance: the access check rejects it once the caller is known. */
function toInstanceId({ id }: Fields): number {
  const number = typeof id === "string" && ROW_ID.test(id) ? Number(id) : 0;
  return Number.isSafeInteger(number) ? number : 0;
}

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

/** The headers that hold the credential of a request, for another request of the same caller. */
export function credentialHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i]?.toLowerCase() ?? "", rawHeaders[i + 1] ?? ""];
    if (toCredential(name, value.trim())) found[name] = value;
  }
  return found;
}

/** Throws VALIDATION_ERROR if a query contains a credential: proxies log URLs. */
function rejectCredentialsInQuery(query: Readonly<Record<string, unknown>>): void {
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
