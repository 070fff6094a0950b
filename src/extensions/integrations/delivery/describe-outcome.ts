import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";

const SHOWN_CHARACTERS = 300;

/** One sentence for users; a response may hold a stack trace, of which only the beginning is kept. */
export function describeOutcome(outcome: FetchOutcome): string {
  if (outcome.outcome === "failed") return outcome.error;
  const text = outcome.body.toString("utf8");
  const shown = (errorMessageIn(text) ?? text).replace(/\s+/g, " ").trim().slice(0, SHOWN_CHARACTERS);
  return `The integration responded with ${outcome.status}${shown ? `: ${shown}` : "."}`;
}

/** The error message in a JSON response. */
export function errorMessageIn(text: string): string | undefined {
  try {
    const { message, error } = (JSON.parse(text) as { message?: unknown; error?: unknown } | null) ?? {};
    return [message, error].find((one) => typeof one === "string");
  } catch {
    return undefined;
  }
}
