import type { FetchOutcome } from "../../../platform/safe-fetch.ts";
import { describeOutcome } from "../error-policy.ts";
import type { N8nConfig } from "./config.ts";

/** n8n is there, and nothing listens at the path. */
export function isNotActive(outcome: FetchOutcome): boolean {
  return outcome.outcome === "response" && outcome.status === 404;
}

/** What an answer means and what to do about it. Source: n8n, `Webhook.node` and `webhook-helpers`. */
export function explain(outcome: FetchOutcome, config: N8nConfig): string {
  const said = describeOutcome(outcome);
  if (outcome.outcome === "failed") return explainFailure(outcome.failure, said);
  const { status } = outcome;
  if (status >= 200 && status < 300) return "The workflow took the event.";
  if (status === 404) return `${notActive(config)} (${said})`;
  if (status === 401 || status === 403) return `${refused(config)} (${said})`;
  if (status === 413) return `The event is larger than n8n takes (N8N_PAYLOAD_SIZE_MAX). (${said})`;
  if (status === 500)
    return `The workflow has failed, or its answer has: look at its executions in n8n. (${said})`;
  if (status >= 300 && status < 400)
    return `The address redirects, and redirects are not followed: use the address that it leads to. (${said})`;
  return said;
}

function notActive({ webhook_url }: N8nConfig): string {
  const isTest = new URL(webhook_url).pathname.includes("/webhook-test/");
  return isTest
    ? "This is the test address of the workflow, which answers one call while the editor listens: use the production URL."
    : "The workflow is not active, or its Webhook node has another path or method: activate it, and set its HTTP Method to POST.";
}

function refused({ token }: N8nConfig): string {
  return token === undefined
    ? "The Webhook node asks for authentication: save the token here, too."
    : "The Webhook node refuses the token, the address of the gateway (IP allowlist) or its name (Ignore Bots): compare the credential; for Header Auth with this token its Name is Authorization and its Value is Bearer, a space and the token.";
}

function explainFailure(failure: string, said: string): string {
  if (failure !== "blocked") return said;
  return `${said} If n8n runs in your own network, whoever operates the gateway adds its name and port to WAYGATE_ALLOWED_HOSTS, such as n8n:5678.`;
}
