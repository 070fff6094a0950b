import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import type { IntegrationStatus } from "../../../tables.ts";

/** The meaning of a response, or of its absence. */
export type ResponseClass =
  | { class: "ok" }
  | {
      class: "retry";
      /** The request had no effect for certain, so it can be repeated. */
      isSafe: boolean;
      /** The service is down: later requests would fail too. */
      isDown: boolean;
      retryAfterMs: number | undefined;
      status: IntegrationStatus;
    }
  | { class: "stop"; status: IntegrationStatus };

/** A proxy before the program has responded, and the program has not received the request. */
export const NOT_THERE_YET: Extract<ResponseClass, { class: "retry" }> = {
  class: "retry",
  isSafe: true,
  isDown: true,
  retryAfterMs: undefined,
  status: "failing",
};

/** Fails before the request was sent. */
const NEVER_SENT = new Set(["dns", "refused", "tls", "timeout_connect"]);
const FORBIDDEN = new Set(["blocked", "invalid_url"]);
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Without 500: a request that failed at its end may have had effects before. */
const NOT_ACTED_UPON = new Set([408, 425, 429, 503]);
const FIRST_OF_SERVER_ERRORS = 500;
/** An unreachable program fails sooner: a later failure interrupts a running request. */
export const RESPONSE_TIMING = { processedAfterMs: 5_000 };

/**
 * 408, 425, 429, 5xx and network errors are transient; another 4xx is a rejection, and redirects are not
 * followed.
 */
export function classifyResponse(outcome: FetchOutcome): ResponseClass {
  if (outcome.outcome === "failed") return classifyFailure(outcome);
  const { status } = outcome;
  if (status >= 200 && status < 300) return { class: "ok" };
  if (status === 404 && outcome.body.length > 0 && isInWordsOfProxy(outcome)) return NOT_THERE_YET;
  if (!PASSING.has(status) && status < FIRST_OF_SERVER_ERRORS)
    return { class: "stop", status: status === 401 || status === 403 ? "auth_error" : "failing" };
  const isSafe = NOT_ACTED_UPON.has(status);
  return {
    class: "retry",
    isSafe,
    isDown:
      isSafe ||
      (status !== 500 && PASSING.has(status) && outcome.durationMs < RESPONSE_TIMING.processedAfterMs),
    retryAfterMs: readRetryAfterMs(outcome.headers["retry-after"]),
    status: "failing",
  };
}

/** The programs respond in JSON; a proxy with an unreachable program returns its own page. */
export function isInWordsOfProxy({ body }: Extract<FetchOutcome, { outcome: "response" }>): boolean {
  return readJson(body.toString("utf8")) === undefined;
}

function classifyFailure({
  failure,
  durationMs,
}: Extract<FetchOutcome, { outcome: "failed" }>): ResponseClass {
  // Only the operator, or another URL, can change that.
  if (FORBIDDEN.has(failure)) return { class: "stop", status: "failing" };
  const isSafe = NEVER_SENT.has(failure);
  return {
    class: "retry",
    isSafe,
    isDown: isSafe || (failure === "reset" && durationMs < RESPONSE_TIMING.processedAfterMs),
    retryAfterMs: undefined,
    status: "failing",
  };
}

const LONGEST_RETRY_AFTER_MS = 3_600_000;

function readRetryAfterMs(header: string | undefined): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), LONGEST_RETRY_AFTER_MS);
}

const STEPS_MS = [2_000, 5_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000];

/**
 * The wait after attempt number `attempt` (from 1); `random` in [0, 1) spreads the retries by 20 % either
 * way.
 */
export function retryDelayMs(
  attempt: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number {
  const stepMs = STEPS_MS[Math.min(attempt, STEPS_MS.length) - 1] ?? 0;
  return Math.max(Math.round(stepMs * (0.8 + 0.4 * random())), retryAfterMs ?? 0);
}

const SHOWN_CHARACTERS = 300;

/** One sentence for users; a response may hold a stack trace, of which only the beginning is kept. */
export function describeOutcome(outcome: FetchOutcome): string {
  if (outcome.outcome === "failed") return outcome.error;
  const shown = excerptOf(outcome.body);
  return `The integration responded with ${outcome.status}${shown ? `: ${shown}` : "."}`;
}

function excerptOf(body: Buffer): string {
  const text = body.toString("utf8");
  return (errorMessageIn(text) ?? text).replace(/\s+/g, " ").trim().slice(0, SHOWN_CHARACTERS);
}

/** The error message in a JSON response. */
export function errorMessageIn(text: string): string | undefined {
  const { message, error } = readJson(text) ?? {};
  return [message, error].find((one) => typeof one === "string");
}

function readJson(text: string): { message?: unknown; error?: unknown } | undefined {
  try {
    return (JSON.parse(text) as object | null) ?? undefined;
  } catch {
    return undefined;
  }
}
