import { invalidField } from "../../platform/gateway-error.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";

const SOCKS_PORT = 1080;

export type OutgoingPolicy = Pick<SafeFetch, "findBlockReason">;

/** Rejects a proxy that the policy for outgoing requests blocks. */
export async function requireAllowedProxyUrl(
  outgoing: OutgoingPolicy,
  url: string | undefined,
  field = "proxy.url",
): Promise<void> {
  if (!url) return;
  const malformed = readProxyIssue(url);
  if (malformed) throw invalidField(field, malformed, "not_a_url");
  const issue = await outgoing.findBlockReason(toPolicyUrl(url));
  if (issue) throw invalidField(field, issue, "blocked_address");
}

function readProxyIssue(url: string): string | undefined {
  if (!URL.canParse(url)) return "This is not a valid URL.";
  const { username, password } = new URL(url);
  try {
    decodeURIComponent(username + password);
    return undefined;
  } catch {
    return "The user name or password is not percent-encoded.";
  }
}

/** The policy checks host and port, and knows only http; the traffic in the tunnel is always encrypted. */
export function toPolicyUrl(proxy: string): string {
  const { protocol, hostname, port } = new URL(proxy);
  const usual = protocol === "https:" ? 443 : protocol === "http:" ? 80 : SOCKS_PORT;
  return `https://${hostname}:${port || usual}`;
}
