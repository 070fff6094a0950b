import {
  type AttemptFailure,
  failureOf,
  isInWordsOfProxy,
  NOT_THERE_YET,
} from "../../../core/webhooks/webhooks.ts";
import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import type { Explanation, ResponseReading } from "../delivery/integration-health.ts";
import { explainTypebotResponse } from "./explain-typebot-response.ts";
import { isPage, isUnauthorised, READ_AT_MOST_BYTES } from "./typebot-api.ts";
import type { TypebotConfig } from "./typebot-config.ts";

/**
 * A proxy detects at once that no viewer listens. A viewer that dies during a request has done some of its
 * work.
 */
const AT_ONCE_MS = 1_000;

/** The meaning of an outcome for the bot. */
export function readOutcome(outcome: FetchOutcome, config: TypebotConfig): ResponseReading & Explanation {
  return {
    failure: viewerFailureOf(outcome),
    isRejected: isUnauthorised(outcome),
    ...explainTypebotResponse(outcome, config),
  };
}

function viewerFailureOf(outcome: FetchOutcome): AttemptFailure | undefined {
  const isUnreachable =
    outcome.outcome === "response" &&
    outcome.status === 502 &&
    outcome.durationMs < AT_ONCE_MS &&
    isInWordsOfProxy(outcome);
  if (isUnreachable || isPage(outcome)) return NOT_THERE_YET;
  return isBrokenOff(outcome) ? { stage: "attempt" } : failureOf(outcome);
}

/**
 * The connection broke, or the time limit passed, during the response; a too large one would be too large
 * again.
 */
function isBrokenOff(outcome: FetchOutcome): boolean {
  if (outcome.outcome === "failed") return false;
  const { status, truncated, body } = outcome;
  return status >= 200 && status < 300 && truncated && body.length < READ_AT_MOST_BYTES;
}
