import type { z } from "zod";
import { pollOptionId, toPollMessage } from "../../../network/content/poll.ts";
import { invalidField } from "../../../platform/gateway-error.ts";
import type { StoredContent } from "../log/message-view.ts";
import type { pollsContract } from "./contract.ts";

export type PollInput = Pick<
  z.output<(typeof pollsContract)["sendPoll"]["input"]>,
  "question" | "options" | "multiple" | "selectable_count" | "hide_voters" | "ends_at"
>;

/** The poll of a request as the content of a message. */
export function readPollInput({
  question,
  options,
  multiple,
  selectable_count = multiple ? 0 : 1,
  hide_voters,
  ends_at,
}: PollInput): StoredContent {
  const now = new Date();
  if (ends_at && ends_at <= now)
    throw invalidField("ends_at", "must be in the future", "too_low", { min: now.toISOString() });
  if (selectable_count > options.length)
    throw invalidField("selectable_count", "must not be greater than the number of options", "too_high", {
      max: options.length,
    });
  return toPollMessage({
    question,
    options: options.map((text) => ({ id: pollOptionId(text), text })),
    selectable_count,
    ...(hide_voters && { hide_voters }),
    ...(ends_at && { ends_at: ends_at.toISOString() }),
  });
}
