import { createHash, timingSafeEqual } from "node:crypto";
import type { Engine } from "../../engine/engine.ts";
import { digestApiKey, isApiKey } from "../../platform/api-key.ts";
import type { Db } from "../../platform/db.ts";
import { GatewayError } from "../../platform/errors.ts";
import type { Authorise, Caller, Credential } from "../../platform/handler.ts";
import type { Access, Route } from "../../platform/route.ts";
import type { Secret } from "../../platform/secret.ts";
import { type Credentials, createCredentials } from "./credentials.ts";
import { invalidToken, type Tokens } from "./tokens.ts";

export interface AuthoriseOptions {
  db: Db;
  tokens: Tokens;
  /** Unset: nobody has administrative access by token. */
  adminToken?: Secret;
  /** Carries `forget` to the other nodes. */
  engine?: Pick<Engine, "tell" | "hear">;
}

type User = Extract<Caller, { kind: "user" }>;
type Check = (route: Route, value: string) => Promise<Caller>;

/** What is known of keys and sign-ins is at most 5 s old; `forget` drops it at once, on this node before it returns. */
export interface AccessControl {
  readonly authorise: Authorise;
  forgetApiKeys(digests: readonly Buffer[]): void;
  forgetSignIns(ids: readonly string[]): void;
}

/** The one place where it is decided who may call what. */
export function createAuthorise(options: AuthoriseOptions): AccessControl {
  const known = createCredentials(options.db, options.engine);
  const checks: Record<Credential["kind"], Check> = {
    key: (_route, value) => checkKey(known, value),
    bearer: (_route, value) => checkToken(known, options.tokens, value),
    admin: (_route, value) => checkAdmin(options.adminToken, value),
  };

  return {
    forgetApiKeys: known.forgetApiKeys,
    forgetSignIns: known.forgetSignIns,
    async authorise(route, { credential, instanceId }) {
      if (route.access === "public") return { kind: "public" };
      if (route.access === "admin" && !options.adminToken) throw closed();
      if (!credential || !ACCEPTS[route.access].includes(credential.kind)) throw authRequired(route.access);
      const caller = await checks[credential.kind](route, credential.value);
      if (route.access === "instance") await requireInstance(known, caller, instanceId ?? 0);
      if (route.access === "owner" && caller.kind === "user") requireOwner(caller);
      return caller;
    },
  };
}

const ACCEPTS: Record<Exclude<Access, "public">, readonly Credential["kind"][]> = {
  account: ["bearer"],
  instance: ["key", "bearer"],
  key: ["key", "bearer"],
  key_or_admin: ["key", "admin"],
  admin: ["admin"],
  owner: ["bearer", "admin"],
};

const NEEDED: Record<Credential["kind"], string> = {
  key: "an API key (x-api-key)",
  bearer: "the token of a sign-in (Authorization: Bearer)",
  admin: "the administrative token (admintoken)",
};

function authRequired(access: Exclude<Access, "public">): GatewayError {
  const needed = ACCEPTS[access].map((kind) => NEEDED[kind]).join(" or ");
  return new GatewayError("AUTH_REQUIRED", `This route needs ${needed}.`);
}

async function checkKey(known: Credentials, value: string): Promise<Caller> {
  const key = isApiKey(value) ? await known.findApiKey(digestApiKey(value)) : undefined;
  if (!key) throw new GatewayError("INVALID_API_KEY", "The API key is not valid.");
  requireInService(key.account_status);
  return { kind: "key", account_id: key.account_id, instance_id: key.instance_id, key_id: key.id };
}

async function checkToken(known: Credentials, tokens: Tokens, value: string): Promise<Caller> {
  const claims = await tokens.verify(value);
  const signIn = await known.findSignIn(claims.sign_in);
  if (!signIn || signIn.user_id !== claims.user_id) throw invalidToken();
  const { account_status, ...user } = signIn;
  requireInService(account_status);
  return { kind: "user", ...user, sign_in: claims.sign_in };
}

async function checkAdmin(adminToken: Secret | undefined, value: string): Promise<Caller> {
  const isRight = adminToken !== undefined && timingSafeEqual(sha256(value), sha256(adminToken.reveal()));
  if (!isRight) throw new GatewayError("INVALID_CREDENTIALS", "The administrative token is not valid.");
  return { kind: "admin" };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** An account that is not in service may neither sign in nor use its keys. */
export function requireInService(status: string): void {
  if (status === "active" || status === "trial") return;
  throw new GatewayError("ACCOUNT_RESTRICTED", `The account is ${status}.`, { details: { status } });
}

/** A key learns nothing about other instances, not even whether they exist; a user nothing about other accounts. */
async function requireInstance(known: Credentials, caller: Caller, instanceId: number): Promise<void> {
  if (caller.kind === "key" && caller.instance_id !== instanceId) {
    throw new GatewayError("INSTANCE_FORBIDDEN", "The API key is not the key of this instance.");
  }
  if (caller.kind === "user" && (await known.findAccountOf(instanceId)) !== caller.account_id) {
    throw new GatewayError("NOT_FOUND", "There is no such instance.");
  }
}

function requireOwner(user: User): void {
  if (user.account_type === "owner" && user.role !== "agent") return;
  throw new GatewayError("FORBIDDEN", "This is for the owner of the gateway.");
}

/** Without an administrative token its routes are not there. */
function closed(): GatewayError {
  return new GatewayError("ROUTE_NOT_FOUND", "There is no such route.");
}
