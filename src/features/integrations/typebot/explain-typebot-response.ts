import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { describeOutcome } from "../classify-response.ts";
import { isPage, isSessionGone, reasonOf } from "./typebot-api.ts";
import type { TypebotConfig } from "./typebot-config.ts";

export const NOT_A_VIEWER =
  "The response did not come from a Typebot viewer: base_url must be the address under which visitors chat with the bot.";

/**
 * The meaning of a response and what to do about it; by its status, since the format of errors differs
 * between viewers.
 */
export function explainTypebotResponse(outcome: FetchOutcome, { public_id }: TypebotConfig): string {
  const summary = describeOutcome(outcome);
  if (outcome.outcome === "failed") {
    if (outcome.failure !== "blocked") return summary;
    return `${summary} If Typebot runs in your own network, the operator of the gateway adds its name and port to WAYGATE_ALLOWED_HOSTS, such as typebot:3000.`;
  }
  if (isPage(outcome)) return `${NOT_A_VIEWER} Messages wait for an hour.`;
  if (outcome.truncated) return "The bot's response was incomplete.";
  switch (outcome.status) {
    case 400:
      return `The bot is closed, or it rejects the message. (${summary})`;
    case 401:
      return `The viewer rejects the API token. Messages wait for one day. (${summary})`;
    case 403:
      return `The bot is suspended, or it rejects requests from this gateway. Messages wait for one day. (${summary})`;
    case 404:
      return explainNotFound(outcome, public_id);
    case 405:
      return `This is the builder, not the viewer: base_url must be the address under which visitors chat with the bot. (${summary})`;
    default:
      return summary;
  }
}

/**
 * If a block of the flow lacks something, the viewer returns its own text, such as "Credentials not found".
 */
function explainNotFound(outcome: FetchOutcome, publicId: string): string {
  const summary = describeOutcome(outcome);
  if (isSessionGone(outcome))
    return `The bot no longer has the session, so the flow starts again. (${summary})`;
  if (!/^(Typebot not found|Not found)?\.?$/i.test(reasonOf(outcome)))
    return `A block of the flow has failed. (${summary})`;
  return `There is no published bot "${publicId}" at this address: publish it, and set public_id to the last part of its address. (${summary})`;
}
