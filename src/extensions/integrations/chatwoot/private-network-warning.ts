import { addressScopeOf, parseIp } from "../../../platform/outgoing/ip-address.ts";

const TRAP =
  "Chatwoot 4.14 and later does not call private addresses, so every message of an agent would show as failed. Set " +
  "SAFE_FETCH_ALLOW_PRIVATE_NETWORK=true in Chatwoot (4.14.1 and later), or WAYGATE_BASE_URL to a public address.";

/** Why a Chatwoot of this version probably cannot call our URL; undefined if there is no known obstacle. */
export function privateNetworkWarning(version: string, baseUrl: string): string | undefined {
  return isAtLeast(version, 4, 14) && isPrivate(new URL(baseUrl).hostname) ? TRAP : undefined;
}

/** Whether a version is at least the given one. */
export function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  return first > major || (first === major && second >= minor);
}

function isPrivate(host: string): boolean {
  const ip = parseIp(host.replace(/^\[|\]$/g, ""));
  if (ip) return addressScopeOf(ip) !== "external";
  return !host.includes(".") || /\.(local|localhost|internal|lan|home|test)$/i.test(host);
}
