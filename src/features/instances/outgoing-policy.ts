import { invalidField } from "../../platform/errors.ts";
import type { SafeFetch } from "../../platform/safe-fetch.ts";

export type OutgoingPolicy = Pick<SafeFetch, "refusal">;

/** Refuses, before anything is made, a webhook address that every delivery would refuse. */
export async function requireAllowedWebhook(
  outgoing: OutgoingPolicy,
  url: string | undefined,
): Promise<void> {
  const issue = url && (await outgoing.refusal(url));
  if (issue) throw invalidField("webhook_url", issue);
}

/** The same for the way to the network: the policy knows http, and asks for host and port only. */
export async function requireAllowedProxy(outgoing: OutgoingPolicy, url: string | undefined): Promise<void> {
  const issue = url && (await outgoing.refusal(url.replace(/^socks5:/i, "http:")));
  if (issue) throw invalidField("proxy.url", issue);
}
