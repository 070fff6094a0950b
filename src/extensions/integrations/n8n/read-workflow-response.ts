import { isN8nStartingUp } from "../../../core/webhooks/webhooks.ts";
import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { describeOutcome } from "../delivery/describe-outcome.ts";
import type { Explanation, ResponseReading } from "../delivery/integration-health.ts";
import type { N8nConfig } from "./n8n-config.ts";
import {
  isNotActive,
  isNotFoundPage,
  isResponseLost,
  isUnauthorised,
  workflowFailureOf,
} from "./workflow-failure.ts";

/** The meaning of an outcome for the workflow. */
export function readWorkflowResponse(
  outcome: FetchOutcome,
  config: N8nConfig,
): ResponseReading & Explanation {
  const isInactive = isNotActive(outcome);
  return {
    failure: workflowFailureOf(outcome, config),
    ...(isInactive && { status: "inactive" }),
    isRejected: isInactive || isUnauthorised(outcome),
    ...explainN8nResponse(outcome, config),
  };
}

/** What a response means and what to do about it. Source: n8n, `Webhook.node` and `webhook-helpers`. */
function explainN8nResponse(outcome: FetchOutcome, config: N8nConfig): Explanation {
  const summary = describeOutcome(outcome);
  if (isResponseLost(outcome, config)) return { code: "n8n_lost", error: explainLost(outcome, summary) };
  if (outcome.outcome === "failed") return { code: null, error: explainFailure(outcome.failure, summary) };
  if (isN8nStartingUp(outcome))
    return { code: "n8n_starting", error: "n8n is starting; the event is sent again in a few seconds." };
  if (isNotFoundPage(outcome))
    return {
      code: "n8n_not_found",
      error: `n8n is starting, or the address does not belong to n8n; the event is sent again. If this continues, compare webhook_url with the production URL of the Webhook node. (${summary})`,
    };
  if (isNotActive(outcome)) return explainNotActive(config, summary);
  if (isUnauthorised(outcome))
    return { code: "n8n_token", error: `${refused(config)} Events wait for one day. (${summary})` };
  if (outcome.status === 500)
    return {
      code: "n8n_failed",
      error: `The workflow or its response has failed: check its executions in n8n. (${summary})`,
    };
  return { code: null, error: explainStatus(outcome.status, summary) };
}

function explainStatus(status: number, summary: string): string {
  if (status >= 200 && status < 300) return "The workflow accepted the event.";
  if (status === 413) return `The event is larger than n8n accepts (N8N_PAYLOAD_SIZE_MAX). (${summary})`;
  if (status >= 300 && status < 400)
    return `The address redirects, and the gateway does not follow redirects: use the target address. (${summary})`;
  return summary;
}

function explainNotActive({ webhook_url }: N8nConfig, summary: string): Explanation {
  if (new URL(webhook_url).pathname.includes("/webhook-test/"))
    return {
      code: "n8n_test_address",
      error: `This is the test address of the workflow, which accepts one request while the editor listens: use the production URL. (${summary})`,
    };
  return {
    code: "n8n_inactive",
    error: `The workflow is not active, or its Webhook node has another path or method: activate it, and set its HTTP Method to POST. (${summary})`,
  };
}

function refused({ token, auth = "bearer", header_name }: N8nConfig): string {
  if (token === undefined || auth === "none")
    return "The Webhook node requires authentication, or it rejects the address of the gateway (IP allowlist) or its name (Ignore Bots): save the token here, too.";
  const credential = {
    bearer:
      "set Authentication of the Webhook node to Header Auth, with a credential whose Name is Authorization and whose Value is Bearer, a space and the token",
    header: `set Authentication of the Webhook node to Header Auth, with a credential whose Name is ${header_name} and whose Value is the token`,
    basic:
      "set Authentication of the Webhook node to Basic Auth, with the User before the colon of the token and the Password after it",
    jwt: "set Authentication of the Webhook node to JWT Auth, with the key and the algorithm that the token is signed with, and check that the token has not expired",
  }[auth];
  return `The Webhook node rejects the token, the address of the gateway (IP allowlist) or its name (Ignore Bots): ${credential}.`;
}

function explainLost(outcome: FetchOutcome, summary: string): string {
  if (outcome.outcome === "failed" && outcome.failure === "timeout_total")
    return `${summary} A workflow that responds too late runs at most twice: let it respond sooner, raise timeout_ms (up to 60000), or reply through the API with reply_mode none.`;
  const isWhole = outcome.outcome === "failed" || !outcome.truncated;
  const what = isWhole ? summary : "The workflow's response was incomplete, so nothing was sent.";
  return `${what} A workflow whose response is lost runs at most twice: raise the time limit of a proxy in front of n8n, or reply through the API with reply_mode none.`;
}

function explainFailure(failure: string, summary: string): string {
  if (failure !== "blocked") return summary;
  return `${summary} If n8n runs in your own network, the operator of the gateway adds its name and port to WAYGATE_ALLOWED_HOSTS, such as n8n:5678.`;
}
