import { type Clock, systemClock } from "../../../platform/clock.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { AuthoriseRequest, Caller } from "../../../platform/http/handler.ts";
import type { Route } from "../../../platform/http/route.ts";
import {
  createTokenBuckets,
  type TokenClaim,
  type TokenResult,
} from "../../../platform/limits/token-bucket.ts";
import { NETWORKS_OF_SITE, networkOf, siteOf } from "./sign-in-throttle.ts";

/** Limits of an account's plan per minute; null: no limit. */
export interface PlanRates {
  api_rate_limit_per_minute: number | null;
  instance_rate_limit_per_minute: number | null;
  message_rate_limit_per_minute: number | null;
}

/** An instance's own limit can only lower the plan's message limit. */
export function withInstanceRate(rates: PlanRates, messagesPerMinute: number | null): PlanRates {
  const most = rates.message_rate_limit_per_minute ?? Number.POSITIVE_INFINITY;
  return messagesPerMinute === null || messagesPerMinute >= most
    ? rates
    : { ...rates, message_rate_limit_per_minute: messagesPerMinute };
}

export interface RateLimits {
  /** Throws RATE_LIMITED; sets the rate limit headers. */
  enforce(route: Route, request: AuthoriseRequest, caller: Caller, rates: PlanRates): void;
  /** The same for an unauthenticated client, by address. */
  enforceUnauthenticated(
    route: Pick<Route, "cost" | "isExemptFromLimits">,
    request: UnauthenticatedRequest,
  ): void;
  /** Throws RATE_LIMITED like `enforceUnauthenticated`, but consumes nothing. */
  requireUnauthenticatedQuota(request: UnauthenticatedRequest): void;
}

type UnauthenticatedRequest = Pick<AuthoriseRequest, "ip" | "responseHeaders" | "isRecheck">;

export interface RateLimitsOptions {
  /** Limit per minute of requests without a valid credential from one address; 0: no limit. */
  unknownPerMinute: number;
  /** Number of processes that share the limits. */
  shares?: () => number;
  clock?: Clock;
}

const MOST_KNOWN = 50_000;
const MOST_ADDRESSES = 50_000;

/** Counts against the plans' limits (account, instance, sends) in the memory of this process. */
export function createRateLimits({
  unknownPerMinute,
  shares,
  clock = systemClock,
}: RateLimitsOptions): RateLimits {
  const known = createTokenBuckets({ clock, shares, maxKeys: MOST_KNOWN });
  // Separate, so that unauthenticated clients cannot evict customers.
  const unknown = createTokenBuckets({ clock, shares, maxKeys: MOST_ADDRESSES });

  const claimsOfAddress = (ip: string, cost: number): TokenClaim[] => {
    const site = siteOf(ip);
    return [
      ...claim(networkOf(ip), "address", unknownPerMinute, cost),
      ...claim(site && `site ${site}`, "site", NETWORKS_OF_SITE * unknownPerMinute, cost),
    ];
  };

  return {
    enforce(route, request, caller, rates) {
      const claims = claimsOf(route, request, caller, rates);
      if (claims.length > 0 && !request.isRecheck) applyResult(known.consume(...claims), request);
    },
    enforceUnauthenticated({ cost = 1, isExemptFromLimits }, request) {
      if (isExemptFromLimits || unknownPerMinute === 0 || request.isRecheck) return;
      const consumed = unknown.consume(...claimsOfAddress(request.ip, cost));
      if (!consumed.isGranted) applyResult(consumed, request);
    },
    requireUnauthenticatedQuota(request) {
      if (unknownPerMinute === 0) return;
      const left = unknown.peek(...claimsOfAddress(request.ip, 1));
      if (!left.isGranted) applyResult(left, request);
    },
  };
}

/** A key counts for its own instance; a user counts for the instance in the route. */
function claimsOf(
  { cost = 1, sends }: Route,
  { instanceId }: AuthoriseRequest,
  caller: Caller,
  rates: PlanRates,
): TokenClaim[] {
  if (caller.kind !== "user" && caller.kind !== "key" && caller.kind !== "assistant") return [];
  const account = `account ${caller.account_id}`;
  const instance = caller.kind === "key" ? caller.instance_id : instanceId;
  const named = instance === undefined ? undefined : `instance ${instance}`;
  return [
    ...claim(account, "account", rates.api_rate_limit_per_minute, cost),
    ...claim(named, "instance", rates.instance_rate_limit_per_minute, cost),
    ...claim(
      sends ? `sends ${named ?? account}` : undefined,
      "messages",
      rates.message_rate_limit_per_minute,
      1,
    ),
  ];
}

function claim(
  key: string | undefined,
  policy: string,
  perMinute: number | null,
  cost: number,
): TokenClaim[] {
  return key === undefined || perMinute === null ? [] : [{ key, policy, perMinute, cost }];
}

function applyResult({ isGranted, states }: TokenResult, { responseHeaders }: UnauthenticatedRequest): void {
  Object.assign(responseHeaders, headersOf(states));
  if (isGranted) return;
  const [tightest] = states.filter(({ isExceeded }) => isExceeded).toSorted((a, b) => b.resetMs - a.resetMs);
  const retryAfterSeconds = secondsOf(tightest?.resetMs ?? 0);
  throw new GatewayError(
    "RATE_LIMITED",
    "Too many requests. Wait for the seconds in Retry-After, then try again.",
    {
      retryAfterSeconds,
      details: {
        policy: tightest?.policy,
        limit_per_minute: tightest?.limit,
        retry_after: retryAfterSeconds,
      },
    },
  );
}

/** The standard headers list all limits; the older `x-ratelimit` ones report the least quota left. */
function headersOf(states: TokenResult["states"]): Record<string, string> {
  const [least] = states.toSorted((a, b) => a.remaining - b.remaining || b.resetMs - a.resetMs);
  if (!least) return {};
  return {
    ratelimit: states
      .map(({ policy, remaining, resetMs }) => `"${policy}";r=${remaining};t=${secondsOf(resetMs)}`)
      .join(", "),
    "ratelimit-policy": states.map(({ policy, limit }) => `"${policy}";q=${limit};w=60`).join(", "),
    "x-ratelimit-limit": String(least.limit),
    "x-ratelimit-remaining": String(least.remaining),
    "x-ratelimit-reset": String(secondsOf(least.resetMs)),
  };
}

/** Rounds up, so that a retry is never too early. */
function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000);
}
