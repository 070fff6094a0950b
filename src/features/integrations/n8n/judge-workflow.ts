import type { FetchOutcome } from "../../../platform/safe-fetch.ts";
import { type CallVerdict, judgeCall } from "../error-policy.ts";

type Response = Extract<FetchOutcome, { outcome: "response" }>;

/** What n8n answers to every request while its database is being migrated, with status 200. Source: `abstract-server`. */
const STARTING_UP = /^n8n is starting up\b/;
const LONGEST_SENTENCE = 200;

const AWAY: CallVerdict = {
  ...{ verdict: "retry", isSafe: true, isDown: true },
  ...{ retryAfterMs: undefined, status: "failing" },
};

/** n8n has answers that mean something else than their status does. */
export function judgeWorkflow(outcome: FetchOutcome): CallVerdict {
  return isStartingUp(outcome) || isPageOfMissing(outcome) ? AWAY : judgeCall(outcome);
}

export function isStartingUp(outcome: FetchOutcome): boolean {
  return (
    outcome.outcome === "response" &&
    outcome.status === 200 &&
    outcome.body.length < LONGEST_SENTENCE &&
    STARTING_UP.test(outcome.body.toString("utf8"))
  );
}

/** n8n before its workflows are active, or a proxy whose n8n is away: n8n itself says in JSON what is not registered. */
export function isPageOfMissing(outcome: FetchOutcome): boolean {
  return outcome.outcome === "response" && outcome.status === 404 && !isJson(outcome);
}

/** n8n is there, and nothing listens at the path. */
export function isNotActive(outcome: FetchOutcome): boolean {
  return outcome.outcome === "response" && outcome.status === 404 && isJson(outcome);
}

export function isUnauthorised(outcome: FetchOutcome): boolean {
  return outcome.outcome === "response" && (outcome.status === 401 || outcome.status === 403);
}

function isJson({ body }: Response): boolean {
  try {
    JSON.parse(body.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}
