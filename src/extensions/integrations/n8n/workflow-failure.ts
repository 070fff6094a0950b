import {
  type AttemptFailure,
  failureOf,
  isInWordsOfProxy,
  NOT_THERE_YET,
  RESPONSE_TIMING,
} from "../../../core/webhooks/webhooks.ts";
import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { errorMessageIn } from "../delivery/describe-outcome.ts";
import type { N8nConfig } from "./n8n-config.ts";
import { maxResponseBytes } from "./request-workflow.ts";

type Response = Extract<FetchOutcome, { outcome: "response" }>;

/** What a proxy returns after its own time limit, or when n8n has closed the connection. */
const LOST_IN_PROXY = new Set([502, 504]);
/** n8n's own text; a workflow may return 404 with another text. */
const NOT_REGISTERED = /not registered/i;

/** Some n8n responses mean something else than their status does. */
export function workflowFailureOf(outcome: FetchOutcome, config: N8nConfig): AttemptFailure | undefined {
  if (isNotFoundPage(outcome)) return NOT_THERE_YET;
  return isResponseLost(outcome, config) ? { stage: "attempt" } : failureOf(outcome);
}

/** The workflow may have run, but the expected response did not arrive, or not completely. */
export function isResponseLost(outcome: FetchOutcome, config: N8nConfig): boolean {
  if (config.reply_mode !== "response") return false;
  const wasProcessed = outcome.durationMs >= RESPONSE_TIMING.processedAfterMs;
  if (outcome.outcome === "failed")
    return outcome.failure === "timeout_total" || (outcome.failure === "reset" && wasProcessed);
  return isBrokenOff(outcome, config) || (LOST_IN_PROXY.has(outcome.status) && wasProcessed);
}

/** The connection broke, or the time limit passed, during the response. */
function isBrokenOff({ status, headers, body, truncated }: Response, config: N8nConfig): boolean {
  return status >= 200 && status < 300 && truncated && body.length < maxResponseBytes(headers, config);
}

/**
 * n8n before its workflows are active, or a proxy with an unreachable n8n: n8n itself reports unregistered
 * paths in JSON.
 */
export function isNotFoundPage(outcome: FetchOutcome): boolean {
  return outcome.outcome === "response" && outcome.status === 404 && isInWordsOfProxy(outcome);
}

/** n8n is reachable, but no workflow listens at the path. */
export function isNotActive(outcome: FetchOutcome): boolean {
  if (outcome.outcome !== "response" || outcome.status !== 404) return false;
  return NOT_REGISTERED.test(errorMessageIn(outcome.body.toString("utf8")) ?? "");
}

export function isUnauthorised(outcome: FetchOutcome): boolean {
  return outcome.outcome === "response" && (outcome.status === 401 || outcome.status === 403);
}
