import type { DeliveryOutcome } from "../destinations/destination.ts";
import { isN8nStartingUp } from "./is-n8n-starting-up.ts";

/** Why an attempt at another program failed, for webhooks and integrations. */
export interface AttemptFailure {
  /**
   * `before`: the program has done nothing for certain. `attempt`: it may have acted. `after`: it has read the request and
   * rejected it.
   */
  stage: "before" | "attempt" | "after";
  /** `rejected`: the same request fails until somebody changes something; `gone`: the receiver wants no more. */
  final?: "rejected" | "gone";
  /** The program is unreachable: later requests would fail too. */
  isDown?: boolean;
  /** The wait that the program requests; of all requests if it is down. */
  requestedMs?: number;
}

/** A proxy before the program has responded, and the program has not received the request. */
export const NOT_THERE_YET: AttemptFailure = { stage: "before", isDown: true };
/** An unreachable program fails sooner: a later failure interrupts a running request. */
export const RESPONSE_TIMING = { processedAfterMs: 5_000 };

const NEVER_SENT = new Set(["dns", "refused", "tls", "timeout_connect"]);
/** Only the operator, or another URL, can change that. */
const FORBIDDEN = new Set(["blocked", "invalid_url"]);
/** Without 500: a request that failed at its end may have had effects before. */
const NOT_ACTED_UPON = new Set([408, 425, 429, 503]);
const FROM_A_PROXY = new Set([502, 504]);

type Response = Extract<DeliveryOutcome, { outcome: "response" }>;

/** Undefined after a broker's confirmation or a 2xx response, except that of an n8n that starts and discards the event. */
export function failureOf(outcome: DeliveryOutcome): AttemptFailure | undefined {
  if (outcome.outcome === "accepted") return undefined;
  if (outcome.outcome === "failed") return failureWithoutResponse(outcome);
  const { status, durationMs, body } = outcome;
  if (isN8nStartingUp(outcome)) return NOT_THERE_YET;
  if (status >= 200 && status < 300) return undefined;
  if (status === 410) return { stage: "after", final: "gone" };
  if (status === 404 && body.length > 0 && isInWordsOfProxy(outcome)) return NOT_THERE_YET;
  if (NOT_ACTED_UPON.has(status)) return { ...NOT_THERE_YET, ...readRetryAfter(outcome) };
  if (status < 500) return { stage: "after", final: "rejected" };
  return {
    stage: "attempt",
    isDown: FROM_A_PROXY.has(status) && durationMs < RESPONSE_TIMING.processedAfterMs,
  };
}

function failureWithoutResponse({
  failure,
  durationMs,
}: Extract<DeliveryOutcome, { outcome: "failed" }>): AttemptFailure {
  if (FORBIDDEN.has(failure)) return { stage: "before", final: "rejected" };
  if (NEVER_SENT.has(failure)) return NOT_THERE_YET;
  if (failure === "rejected") return { stage: "after", final: "rejected" };
  return {
    stage: "attempt",
    isDown: failure === "reset" && durationMs < RESPONSE_TIMING.processedAfterMs,
  };
}

/** Seconds or a date; applies only to 429 and 503. */
function readRetryAfter({ status, headers }: Response): Pick<AttemptFailure, "requestedMs"> {
  if (status !== 429 && status !== 503) return {};
  const header = headers["retry-after"]?.trim() ?? "";
  const requestedMs = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(requestedMs) ? {} : { requestedMs };
}

/** The programs respond in JSON; a proxy with an unreachable program returns its own page. */
export function isInWordsOfProxy({ body }: Pick<Response, "body">): boolean {
  try {
    return JSON.parse(body.toString("utf8")) === null;
  } catch {
    return true;
  }
}

export function isSuccess(outcome: DeliveryOutcome): boolean {
  return failureOf(outcome) === undefined;
}

/** Describes the failure in one sentence for logs and lists. */
export function describeFailure(outcome: DeliveryOutcome): string {
  if (isN8nStartingUp(outcome)) return "n8n was starting, so it responded with 200 and discarded the event.";
  return outcome.outcome === "failed" ? outcome.error : `The receiver responded with ${statusOf(outcome)}.`;
}

/** The status of an HTTP response; null without one. */
export function statusOf(outcome: DeliveryOutcome): number | null {
  return outcome.outcome === "response" ? outcome.status : null;
}

/** A rejection that a retry will hardly change counts double in the circuit breaker. */
export function failureWeightOf(outcome: DeliveryOutcome): 1 | 2 {
  if (outcome.outcome === "failed" && outcome.failure === "rejected") return 2;
  if (outcome.outcome !== "response" || outcome.status < 400 || outcome.status >= 500) return 1;
  return outcome.status === 409 || NOT_ACTED_UPON.has(outcome.status) ? 1 : 2;
}
