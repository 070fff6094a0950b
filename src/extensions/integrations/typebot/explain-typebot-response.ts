import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { describeOutcome } from "../delivery/describe-outcome.ts";
import type { Explanation } from "../delivery/integration-health.ts";
import type { IntegrationReason } from "../integration-reasons.ts";
import { isPage, isSessionGone, reasonOf } from "./typebot-api.ts";
import type { TypebotConfig } from "./typebot-config.ts";

export const NOT_A_VIEWER =
  "The response did not come from a Typebot viewer: base_url must be the address under which visitors chat with the bot.";

/**
 * What a response means and what to do about it; by its status, since the format of errors differs between
 * viewers.
 */
export function explainTypebotResponse(outcome: FetchOutcome, { public_id }: TypebotConfig): Explanation {
  const summary = describeOutcome(outcome);
  if (outcome.outcome === "failed") return { code: null, error: explainFailure(outcome.failure, summary) };
  if (isPage(outcome))
    return { code: "typebot_not_viewer", error: `${NOT_A_VIEWER} Messages wait for an hour.` };
  if (outcome.truncated) return { code: null, error: "The bot's response was incomplete." };
  if (outcome.status === 404) return explainNotFound(outcome, public_id, summary);
  const known = BY_STATUS[outcome.status];
  return known ? { code: known.code, error: `${known.text} (${summary})` } : { code: null, error: summary };
}

const BY_STATUS: Readonly<Record<number, { code: IntegrationReason; text: string }>> = {
  400: { code: "typebot_closed", text: "The bot is closed, or it rejects the message." },
  401: { code: "typebot_token", text: "The viewer rejects the API token. Messages wait for one day." },
  403: {
    code: "typebot_suspended",
    text: "The bot is suspended, or it rejects requests from this gateway. Messages wait for one day.",
  },
  405: {
    code: "typebot_builder",
    text: "This is the builder, not the viewer: base_url must be the address under which visitors chat with the bot.",
  },
};

function explainFailure(failure: string, summary: string): string {
  if (failure !== "blocked") return summary;
  return `${summary} If Typebot runs in your own network, the operator of the gateway adds its name and port to WAYGATE_ALLOWED_HOSTS, such as typebot:3000.`;
}

/**
 * If a block of the flow lacks something, the viewer returns its own text, such as "Credentials not found".
 */
function explainNotFound(outcome: FetchOutcome, publicId: string, summary: string): Explanation {
  if (isSessionGone(outcome))
    return {
      code: "typebot_session_gone",
      error: `The bot no longer has the session, so the flow starts again. (${summary})`,
    };
  if (!isUnpublished(outcome))
    return { code: "typebot_block", error: `A block of the flow has failed. (${summary})` };
  return {
    code: "typebot_unpublished",
    error: `There is no published bot "${publicId}" at this address: publish it, and set public_id to the last part of its address. (${summary})`,
  };
}

function isUnpublished(outcome: FetchOutcome): boolean {
  return /^(Typebot not found|Not found)?\.?$/i.test(reasonOf(outcome));
}
