import { type AttemptFailure, failureOf } from "../../../../core/webhooks/webhooks.ts";
import type { FetchOutcome } from "../../../../platform/outgoing/safe-fetch.ts";
import { describeOutcome } from "../../delivery/describe-outcome.ts";
import type { IntegrationReason } from "../../integration-reasons.ts";

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
  failure: AttemptFailure;
  status_code: number | null;
  /** A description for users. */
  text: string;
}

/** Chatwoot limits the messages per minute of one conversation; a later retry succeeds. */
const BUSY: AttemptFailure = { stage: "before", requestedMs: 60_000 };

/** Undefined for a successful response. */
export function chatwootErrorOf(outcome: FetchOutcome): ChatwootError | undefined {
  const failure = failureOf(outcome);
  if (!failure) return undefined;
  const reason = reasonOf(outcome, failure.final === undefined);
  return {
    reason,
    failure: reason === "too_many" ? BUSY : failure,
    status_code: outcome.outcome === "failed" ? null : outcome.status,
    text: TEXTS[reason] ?? describeOutcome(outcome),
  };
}

/**
 * A 2xx response that is not JSON: a page of a proxy before Chatwoot, or a truncated response. The outcome is
 * unknown.
 */
export function unreadableResponse(outcome: FetchOutcome): ChatwootError {
  return {
    reason: "unreadable",
    failure: { stage: "attempt", isDown: true },
    status_code: outcome.outcome === "failed" ? null : outcome.status,
    text:
      "The response did not come from Chatwoot. Waiting messages are sent again. If this continues, check `url`: it must be the " +
      "address of Chatwoot itself.",
  };
}

/** A 200 in JSON that does not come from Chatwoot. */
export function unexpectedResponse(outcome: FetchOutcome): ChatwootError {
  return {
    reason: "other",
    failure: { stage: "after", final: "rejected" },
    status_code: outcome.outcome === "failed" ? null : outcome.status,
    text: "The response did not come from Chatwoot. Check `url`: it must be the address of Chatwoot itself.",
  };
}

const TEXTS: Partial<Record<ChatwootError["reason"], string>> = {
  token:
    "Chatwoot does not know the access token. Use the token of a user's profile, not of an agent bot or a platform " +
    "app. If the token is right, a proxy may drop its header `api_access_token`: nginx needs `underscores_in_headers on;`.",
  role: "The access token is right, but its user is not an administrator of the account. Use an administrator's token.",
  suspended: "The account is suspended in Chatwoot.",
  too_large: "The file is too large for Chatwoot or for a proxy in front of it.",
};

/** The reasons that tell more than the kind of the outcome. */
const CODES: Partial<Record<ChatwootError["reason"], IntegrationReason>> = {
  token: "chatwoot_token",
  role: "chatwoot_role",
  suspended: "chatwoot_suspended",
  too_large: "chatwoot_too_large",
  identity: "chatwoot_identity",
  inbox_gone: "chatwoot_inbox_gone",
  unreadable: "chatwoot_unreadable",
};

/** The reason as the code of an integration's error. */
export function codeOfChatwootError(reason: ChatwootError["reason"] | undefined): IntegrationReason | null {
  return (reason && CODES[reason]) ?? null;
}

/** Neither the conversation nor a new one can exist: the inbox itself is deleted. */
export function toInboxGone(refusal: ChatwootError): ChatwootError {
  return {
    ...refusal,
    reason: "inbox_gone",
    text: "The inbox no longer exists in Chatwoot. Save the integration with another inbox; the waiting messages then go there.",
  };
}

function reasonOf(outcome: FetchOutcome, isPassing: boolean): ChatwootError["reason"] {
  if (outcome.outcome === "failed") return outcome.failure === "blocked" ? "blocked" : "unreachable";
  const body = outcome.body.toString("utf8").slice(0, 2000);
  switch (outcome.status) {
    case 401:
      return /suspended/i.test(body) ? "suspended" : /not authorized/i.test(body) ? "role" : "token";
    case 403:
      return "forbidden";
    case 404:
      return isPassing ? "unreachable" : "not_found";
    case 413:
      return "too_large";
    case 422:
      if (/too many messages/i.test(body)) return "too_many";
      return /taken|unique/i.test(body) ? "taken" : "other";
    default:
      return "other";
  }
}
