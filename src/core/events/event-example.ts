import { readRecordedExamples } from "../../platform/openapi/recorded-examples.ts";
import type { EventName, STREAM_EVENTS } from "./contract.ts";

/** A body of the event that a test has recorded. */
export function eventExample(name: EventName | (typeof STREAM_EVENTS)[number]): Record<string, unknown> {
  const { events } = readRecordedExamples();
  // No webhook receives a progress, so the description has none. It has the fields of the end.
  const recorded = events[name === "campaign.progress" ? "campaign.completed" : name];
  return { ...(recorded as object), event: name };
}
