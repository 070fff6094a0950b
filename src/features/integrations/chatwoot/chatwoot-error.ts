import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import {
  classifyResponse,
  describeOutcome,
  NOT_THERE_YET,
  type ResponseClass,
} from "../classify-response.ts";

/** Why Chatwoot rejected a request. */
export interface ChatwootError {
  reason:
    | "token"
    | "role"
    | "suspended"
    | "forbidden"
    | "not_found"
    | "inbox_gone"
    | "taken"
    | "identity"
    | "too_many"
    | "too_large"
    | "blocked"
    | "unreachable"
    | "unreadable"
    | "other";
  verdict: Exclude<ResponseClass, { class: "ok" }>;
  status_code: number | null;
  /** A description for users. */
  text: string;
}

const BACK_OFF_MS = 60_000;

/** Undefined for a successful response. */
export function chatwootErrorOf(outcome: FetchOutcome): ChatwootError | undefined {
  const judged = classifyResponse(outcome);
  if (judged.class === "ok") return undefined;
  const reason = reasonOf(outcome, judged.class === "retry");
  const verdict = reason === "too_many" ? busy(judged) : judged;
  const status_code = outcome.outcome === "failed" ? null : outcome.status;
  return { reason, verdict, status_code, text: WORDS[reason] ?? describeOutcome(outcome) };
}

/**
 * A 2xx response that is not JSON: a page of a proxy before Chatwoot, or a truncated response. The outcome is
 * unknown.
 */
export function unreadableAnswer(outcome: FetchOutcome): ChatwootError {
  return {
    reason: "unreadable",
    verdict: { ...NOT_THERE_YET, isSafe: false },
    status_code: outcome.outcome === "failed" ? null : outcome.status,
    text:
      "The address answered, but not as Chatwoot does; what waits is sent again. If this stays, check `url`: it is the " +
      "address of Chatwoot itself.",
  };
}

/** A 200 in JSON that does not come from Chatwoot. */
export function unexpectedResponse(outcome: FetchOutcome): ChatwootError {
  return {
    reason: "other",
    verdict: { class: "stop", status: "failing" },
    status_code: outcome.outcome === "failed" ? null : outcome.status,
    text: "The address answered, but not as Chatwoot does. Check `url`: it is the address of Chatwoot itself.",
  };
}

const WORDS: Partial<Record<ChatwootError["reason"], string>> = {
  token:
    "Chatwoot does not know the access token. Use the token of a user's profile, not that of an agent bot or a platform " +
    "app. If it is right, a proxy may drop its header `api_access_token`: nginx needs `underscores_in_headers on;`.",
  role: "The access token is right, but the role of its user is too low: it must be an administrator of the account.",
  suspended: "The account is suspended in Chatwoot.",
  too_large: "Chatwoot, or a proxy before it, does not take files of this size.",
};

/** Neither the conversation nor a new one can exist: the inbox itself is deleted. */
export function toInboxGone(refusal: ChatwootError): ChatwootError {
  return {
    ...refusal,
    reason: "inbox_gone",
    text: "The inbox is not in Chatwoot any more. What waits for it comes in after the next save with one that is.",
  };
}

function reasonOf(outcome: FetchOutcome, isPassing: boolean): ChatwootError["reason"] {
  if (outcome.outcome === "failed") return outcome.failure === "blocked" ? "blocked" : "unreachable";
  const said = outcome.body.toString("utf8").slice(0, 2000);
  switch (outcome.status) {
    case 401:
      return /suspended/i.test(said) ? "suspended" : /not authorized/i.test(said) ? "role" : "token";
    case 403:
      return "forbidden";
    case 404:
      return isPassing ? "unreachable" : "not_found";
    case 413:
      return "too_large";
    case 422:
      if (/too many messages/i.test(said)) return "too_many";
      return /taken|unique/i.test(said) ? "taken" : "other";
    default:
      return "other";
  }
}

/** Chatwoot limits the messages per minute of one conversation; a later retry succeeds. */
function busy(judged: ResponseClass): ChatwootError["verdict"] {
  const retryAfterMs = "retryAfterMs" in judged ? judged.retryAfterMs : undefined;
  return {
    class: "retry",
    isSafe: true,
    isDown: false,
    retryAfterMs: retryAfterMs ?? BACK_OFF_MS,
    status: "failing",
  };
}
