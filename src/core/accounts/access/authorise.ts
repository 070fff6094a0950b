import { createHash, timingSafeEqual } from "node:crypto";
import type { Engine } from "../../../engine/engine.ts";
import type { Db } from "../../../platform/db/database.ts";
import { GatewayError, invalidField, notForAgents } from "../../../platform/gateway-error.ts";
import type { Authorise, AuthoriseRequest, Caller, Credential } from "../../../platform/http/handler.ts";
import type { Route, RouteAccess } from "../../../platform/http/route.ts";
import {
  type Cidr,
  effectiveIps,
  inCidr,
  parseCidr,
  parseIp,
} from "../../../platform/outgoing/ip-address.ts";
import type { Secret } from "../../../platform/secrets/secret.ts";
import { digestApiKey, isApiKey, noInstance } from "../../instances/instances.ts";
import { type AccessTokens, invalidToken, type TokenUse } from "./access-tokens.ts";
import { challengeAssistant } from "./challenge-assistant.ts";
import { type ConnectedAssistant, type CredentialCache, createCredentialCache } from "./credential-cache.ts";
import { digestOAuthToken, isAssistantToken } from "./oauth-token.ts";
import { type PlanRates, type RateLimits, withInstanceRate } from "./rate-limits.ts";
import { authRequired, isCredentialFor } from "./route-credentials.ts";

export interface AuthoriseOptions {
  db: Db;
  tokens: AccessTokens;
  /** The valid tokens, two during a rotation. None: administrative tokens are rejected. */
  adminTokens?: readonly Secret[];
  /** Addresses and CIDRs that may use administrative tokens; none: all. */
  adminFrom?: readonly string[];
  /** Sends cache invalidations to the other nodes. */
  engine?: Pick<Engine, "publish" | "subscribe">;
  /** Verifies tokens in paths; unset: all are invalid. */
  pathTokens?: PathTokenVerifier;
  /** Unset: no limits. */
  limits?: RateLimits;
  /** Unset: no assistant can be connected. */
  assistants?: AssistantFinder | undefined;
  /** Compares in constant time. Unset: there is no metrics token. */
  isMetricsToken?(received: string): boolean;
}

/** Finds the assistant to which a token was given. */
export interface AssistantFinder {
  find(digest: Buffer): Promise<ConnectedAssistant | undefined>;
  /** Where an assistant without a token learns how to get one. */
  resourceMetadataUrl: string;
}

/** Verifies tokens in the path of a route, which also names the instance. */
export interface PathTokenVerifier {
  /** Whether `isValid` can decide for this instance without a database query. */
  isKnown(instanceId: number): boolean;
  isValid(instanceId: number, token: string): Promise<boolean>;
}

type Check = (route: Route, value: string, ip: string) => Promise<CachedCredential>;

/** The caller, with the limits of the account's plan. */
interface CachedCredential {
  caller: Caller;
  rates: PlanRates;
}

/** Cached credentials are at most 5 s old; `invalidate...` evicts them on this node before it returns. */
export interface AccessControl {
  readonly authorise: Authorise;
  invalidateApiKeys(digests: readonly Buffer[]): void;
  invalidateSignIns(ids: readonly string[]): void;
  /** Counts an invalid credential that another module checked; throws RATE_LIMITED. */
  countUnauthenticated(ip: string): void;
}

/** The only code that decides which caller may use which route. */
export function createAuthorise(options: AuthoriseOptions): AccessControl {
  const { adminTokens = [], adminFrom = [], limits } = options;
  const admittedFrom = adminFrom.map(parseCidr).filter((cidr) => cidr !== undefined);
  const known = createCredentialCache(options.db, options.engine);
  const checks: Record<Credential["kind"], Check> = {
    key: (route, value) => checkKey(known, route, value),
    bearer: (route, value) => checkToken(known, options.tokens, route, { value, use: "api" }),
    session: (route, value) => checkToken(known, options.tokens, route, { value, use: "panel" }),
    async admin(_route, value, ip) {
      requireAdmitted(admittedFrom, ip);
      return checkAdmin(adminTokens, value);
    },
  };

  return {
    invalidateApiKeys: known.invalidateApiKeys,
    invalidateSignIns: known.invalidateSignIns,
    countUnauthenticated: (ip) => limits?.enforceUnauthenticated({}, { ip, responseHeaders: {} }),
    async authorise(route, request) {
      if (route.pathToken) return checkPathToken(options, request);
      if (route.access === "public") {
        limits?.enforceUnauthenticated(route, request);
        return isMonitor(options, request) ? { kind: "public", is_monitor: true } : { kind: "public" };
      }
      if (route.access === "admin" && adminTokens.length === 0) throw closed();
      const { caller, rates } = await identify(route, route.access, request).catch((refusal: unknown) => {
        if (!(refusal instanceof GatewayError) || refusal.status !== 401) throw refusal;
        limits?.enforceUnauthenticated(route, request);
        const { assistants } = options;
        if (route.assistants !== "directly" || assistants === undefined) throw refusal;
        throw challengeAssistant(refusal, assistants.resourceMetadataUrl, request);
      });
      requireRole(route, caller);
      requireWholeReach(route, caller);
      const own = route.access === "instance" ? await findRate(known, caller, request.instanceId ?? 0) : null;
      limits?.enforce(route, request, caller, withInstanceRate(rates, own));
      return caller;
    },
  };

  async function identify(
    route: Route,
    access: Exclude<RouteAccess, "public">,
    { credential, ip, isInProcess = false }: AuthoriseRequest,
  ): Promise<CachedCredential> {
    if (credential?.kind === "bearer" && isAssistantToken(credential.value)) {
      if (!isOpenToAssistants(route, isInProcess)) throw wrongPlace();
      return checkAssistant(options, route, credential.value);
    }
    if (!credential || !isCredentialFor(route, access, credential)) throw authRequired(access);
    return checks[credential.kind](route, credential.value, ip);
  }
}

function isMonitor({ isMetricsToken }: AuthoriseOptions, { credential }: AuthoriseRequest): boolean {
  return credential?.kind === "bearer" && isMetricsToken?.(credential.value) === true;
}

/** Only invalid tokens consume quota; without quota left, unknown instances cause no database query. */
async function checkPathToken(
  { pathTokens, limits }: AuthoriseOptions,
  request: AuthoriseRequest,
): Promise<Caller> {
  const { instanceId, token } = request.pathToken ?? { instanceId: 0, token: "" };
  if (!pathTokens?.isKnown(instanceId)) limits?.requireUnauthenticatedQuota(request);
  if (await pathTokens?.isValid(instanceId, token)) return { kind: "public" };
  limits?.enforceUnauthenticated({}, request);
  // One message for every reason, so that a caller cannot find out which instances exist.
  throw new GatewayError(
    "INVALID_CREDENTIALS",
    "The address or the signature of this webhook is wrong. Save the integration again to register the webhook anew.",
  );
}

const UNLIMITED: PlanRates = {
  api_rate_limit_per_minute: null,
  instance_rate_limit_per_minute: null,
  message_rate_limit_per_minute: null,
};

async function checkKey(known: CredentialCache, route: Route, value: string): Promise<CachedCredential> {
  const key = isApiKey(value) ? await known.findApiKey(digestApiKey(value)) : undefined;
  if (!key)
    throw new GatewayError(
      "INVALID_API_KEY",
      "The API key is not valid. It may have been regenerated: use the instance's current key.",
    );
  requireActiveAccount(key.account_status);
  requireFeature(route, key.features);
  const { account_id, instance_id, id: key_id, scope, may_manage, rates } = key;
  return { caller: { kind: "key", account_id, instance_id, key_id, scope, may_manage }, rates };
}

async function checkToken(
  known: CredentialCache,
  tokens: AccessTokens,
  route: Route,
  { value, use }: { value: string; use: TokenUse },
): Promise<CachedCredential> {
  const claims = await tokens.verify(value, use);
  const signIn = await known.findSignIn(claims.sign_in);
  if (!signIn || signIn.user_id !== claims.user_id) throw invalidToken();
  const { account_status, features, rates, ...user } = signIn;
  requireActiveAccount(account_status);
  requireFeature(route, features);
  const panel = use === "panel" ? ({ is_panel: true } as const) : {};
  return { caller: { kind: "user", ...user, sign_in: claims.sign_in, ...panel }, rates };
}

/** The same whether or not the token is valid. */
function wrongPlace(): GatewayError {
  return new GatewayError("INVALID_TOKEN", "The token of an assistant is accepted only at /mcp.");
}

/** Read for each request, so that a token ends at once on every node. */
async function checkAssistant(
  { assistants }: AuthoriseOptions,
  route: Route,
  value: string,
): Promise<CachedCredential> {
  const digest = digestOAuthToken("access", value);
  const assistant = digest && (await assistants?.find(digest));
  if (!assistant)
    throw new GatewayError("INVALID_TOKEN", "The token of the assistant is not valid or has expired.");
  const { account_status, features, rates, ...caller } = assistant;
  requireActiveAccount(account_status);
  requireFeature(route, features);
  return { caller: { kind: "assistant", ...caller }, rates };
}

/** Rejects any token from other addresses, so that they cannot find out whether it is valid. */
function requireAdmitted(from: readonly Cidr[], ip: string): void {
  const caller = parseIp(ip);
  const forms = caller ? effectiveIps(caller) : [];
  if (from.length === 0 || forms.some((form) => from.some((cidr) => inCidr(form, cidr)))) return;
  throw new GatewayError(
    "FORBIDDEN",
    "Administrative tokens are not accepted from this address (WAYGATE_ADMIN_FROM).",
  );
}

async function checkAdmin(adminTokens: readonly Secret[], value: string): Promise<CachedCredential> {
  const received = sha256(value);
  // Compares all tokens, so that the time reveals nothing.
  const right = adminTokens.filter((token) => timingSafeEqual(received, sha256(token.reveal())));
  if (adminTokens.length === 0)
    throw new GatewayError(
      "INVALID_CREDENTIALS",
      "No administrative token is valid, because WAYGATE_ADMIN_TOKEN is not set.",
    );
  if (right.length === 0)
    throw new GatewayError(
      "INVALID_CREDENTIALS",
      "The administrative token is not valid. Send a value of WAYGATE_ADMIN_TOKEN.",
    );
  return { caller: { kind: "admin" }, rates: UNLIMITED };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Only active accounts and trials may sign in and use their keys. */
export function requireActiveAccount(status: string): void {
  if (status === "active" || status === "trial") return;
  throw new GatewayError(
    "ACCOUNT_RESTRICTED",
    `The account is ${status}. Ask the operator or your reseller.`,
    { details: { status } },
  );
}

function requireFeature({ feature }: Route, features: Readonly<Record<string, unknown>>): void {
  if (feature === undefined || features[feature] !== false) return;
  throw new GatewayError(
    "PLAN_FEATURE_DISABLED",
    `The account's plan does not include ${feature}. Ask for a plan that does.`,
    {
      details: { feature },
    },
  );
}

/**
 * The instance's own limit, for a user; that of a key is already in its rates. Errors do not reveal whether
 * instances of other accounts exist.
 */
async function findRate(known: CredentialCache, caller: Caller, instanceId: number): Promise<number | null> {
  if (instanceId === 0)
    throw invalidField(
      "id",
      "must be the number of an instance in the path, such as /api/v1/instances/1",
      "wrong_format",
    );
  if (caller.kind === "key" && caller.instance_id !== instanceId) {
    throw new GatewayError(
      "INSTANCE_FORBIDDEN",
      "This API key belongs to another instance. Use the key of the instance that the request names.",
    );
  }
  if (caller.kind !== "user" && caller.kind !== "assistant") return null;
  const instance = await known.findInstance(instanceId);
  const isOwn = instance?.account_id === caller.account_id;
  const isWithinReach = caller.instance_ids?.includes(instanceId) ?? true;
  if (instance && isOwn && isWithinReach) return instance.messages_per_minute;
  throw noInstance();
}

/** Throws FORBIDDEN unless the account and role of the user, or of the assistant's user, may use the route. */
function requireRole({ access, role }: Route, caller: Caller): void {
  if (caller.kind !== "user" && caller.kind !== "assistant") return;
  const account = caller.kind === "user" ? caller.account_type : "client";
  if (access === "owner" && account !== "owner") {
    throw new GatewayError("FORBIDDEN", "Only the owner of the gateway may do this.");
  }
  if (access === "manager" && account === "client") {
    throw new GatewayError("FORBIDDEN", "Only the owner of the gateway and resellers may do this.");
  }
  const isForAdmins = role === "admin" || access === "owner" || access === "manager";
  if (isForAdmins && caller.role === "agent") throw notForAgents();
}

/** Throws FORBIDDEN if the route concerns the whole account, and the caller reaches only some of its instances. */
function requireWholeReach({ access, keepsToInstances }: Route, caller: Caller): void {
  if (access === "instance" || keepsToInstances) return;
  if (!("instance_ids" in caller) || caller.instance_ids === null) return;
  throw new GatewayError(
    "FORBIDDEN",
    "You may use only some instances, and this concerns the whole account. Ask an administrator of the account.",
    { details: { needs: "admin" } },
  );
}

/** The routes for the administrative token exist only while one is set. */
function closed(): GatewayError {
  return new GatewayError("ROUTE_NOT_FOUND", "This route exists only while WAYGATE_ADMIN_TOKEN is set.");
}

/** Whether the token of an assistant is accepted: at /mcp, and by the routes that its tools use inside the process. */
function isOpenToAssistants({ access, assistants }: Route, isInProcess: boolean): boolean {
  if (assistants === "directly") return !isInProcess;
  return isInProcess && (access === "instance" || assistants === "by tools");
}
