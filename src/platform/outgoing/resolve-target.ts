import {
  BLOCKED_MESSAGE,
  BlockedTargetError,
  classifyFetchFailure,
  type FetchFailureCode,
} from "./classify-fetch-failure.ts";
import type { DnsResolver } from "./dns-resolver.ts";
import { parseOutgoingTarget, type TargetRules } from "./outgoing-target.ts";
import { startRequestDeadline } from "./request-deadline.ts";

interface ResolveOptions extends TargetRules {
  lookup: DnsResolver;
  totalMs: number;
}

interface Unresolved {
  failure: FetchFailureCode;
  error: string;
  /** Whether the name was resolved, and its addresses decided. */
  isResolved: boolean;
}

const PROXIED =
  "This gateway sends everything through the proxy of WAYGATE_EGRESS_PROXY, which takes only http and https.";

/** The addresses of a URL's host, each allowed; a client dials one of them, so nothing resolves the name again. */
export async function resolveTarget(
  url: string,
  { lookup, totalMs, ...rules }: ResolveOptions,
): Promise<{ addresses: readonly string[] } | Unresolved> {
  const target = parseOutgoingTarget(url, rules);
  if ("failure" in target) return { ...target, isResolved: false };
  if (rules.isProxied) return { failure: "blocked", error: PROXIED, isResolved: false };
  if (target.isLiteral) return { addresses: [target.host.replace(/^\[|\]$/g, "")] };
  const deadline = startRequestDeadline(totalMs, undefined);
  try {
    const found = await deadline.race(lookup(target.host));
    if (found.length === 0 || !found.every(({ address }) => rules.policy.allows(target, address)))
      throw new BlockedTargetError();
    return { addresses: found.map(({ address }) => address) };
  } catch (error) {
    return { ...classifyFetchFailure(error), isResolved: true };
  } finally {
    deadline.clear();
  }
}

/** Why a URL cannot be saved. A name that does not resolve now may do so later, and a proxy resolves names itself. */
export async function findBlockReason(
  url: string,
  { lookup, totalMs, ...rules }: ResolveOptions,
): Promise<string | undefined> {
  const target = parseOutgoingTarget(url, rules);
  if ("failure" in target) return target.error;
  if (target.isLiteral || rules.isProxied) return undefined;
  const deadline = startRequestDeadline(totalMs, undefined);
  try {
    const addresses = await deadline.race(lookup(target.host));
    return addresses.every(({ address }) => rules.policy.allows(target, address))
      ? undefined
      : BLOCKED_MESSAGE;
  } catch (error) {
    classifyFetchFailure(error);
    // The decisive check happens on connect.
    return undefined;
  } finally {
    deadline.clear();
  }
}
