import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import {
  classifyResponse,
  errorMessageIn,
  NOT_THERE_YET,
  type ResponseClass,
  UNDER_WAY_AFTER_MS,
} from "../classify-response.ts";
import { largestAnswer } from "./call-workflow.ts";
import type { N8nConfig } from "./n8n-config.ts";

type Response = Extract<FetchOutcome, { outcome: "response" }>;

/** What n8n answers to every request while its database is being migrated, with status 200. Source: `abstract-server`. */
const STARTING_UP = /^n8n is starting up\b/;
const LONGEST_SENTENCE = 200;

const ANSWER_LOST: ResponseClass = { ...NOT_THERE_YET, isSafe: false, isDown: false };
/** What a proxy says when its own time limit is over, or n8n has broken the connection. */
const LOST_IN_PROXY = new Set([502, 504]);
/** In n8n's own words; a workflow may answer 404 with words of its own. */
const NOT_REGISTERED = /not registered/i;

/** n8n has answers that mean something else than their status does. */
export function classifyWorkflowResponse(outcome: FetchOutcome, config: N8nConfig): ResponseClass {
  if (isStartingUp(outcome) || isNotFoundPage(outcome)) return NOT_THERE_YET;
  return isAnswerLost(outcome, config) ? ANSWER_LOST : classifyResponse(outcome);
}

/** The workflow has run, as far as the gateway can know, and the answer that is waited for did not come, or not whole. */
export function isAnswerLost(outcome: FetchOutcome, config: N8nConfig): boolean {
  if (config.reply_mode !== "response") return false;
  const wasUnderWay = outcome.durationMs >= UNDER_WAY_AFTER_MS;
  if (outcome.outcome === "failed")
    return outcome.failure === "timeout_total" || (outcome.failure === "reset" && wasUnderWay);
  return isBrokenOff(outcome, config) || (LOST_IN_PROXY.has(outcome.status) && wasUnderWay);
}

/** The connection broke, or the time was up, in the middle of the answer. */
function isBrokenOff({ status, headers, body, truncated }: Response, config: N8nConfig): boolean {
  return status >= 200 && status < 300 && truncated && body.length < largestAnswer(headers, config);
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
export function isNotFoundPage(outcome: FetchOutcome): boolean {
  return outcome.outcome === "response" && outcome.status === 404 && !isJson(outcome);
}

/** n8n is there, and nothing listens at the path. */
export function isNotActive(outcome: FetchOutcome): boolean {
  if (outcome.outcome !== "response" || outcome.status !== 404) return false;
  return NOT_REGISTERED.test(errorMessageIn(outcome.body.toString("utf8")) ?? "");
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
