import type { DeliveryOutcome } from "../destinations/destination.ts";

/** What n8n returns for every request during a migration of its database. Source: `abstract-server`. */
const STARTING_UP = /^n8n is starting up\b/;
const LONGEST_SENTENCE = 200;

/** Whether the receiver is an n8n that has discarded the request, because its workflows are not loaded yet: status 200. */
export function isN8nStartingUp(outcome: DeliveryOutcome): boolean {
  return (
    outcome.outcome === "response" &&
    outcome.status === 200 &&
    outcome.body.length < LONGEST_SENTENCE &&
    STARTING_UP.test(outcome.body.toString("utf8"))
  );
}
