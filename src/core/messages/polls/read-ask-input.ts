import type { z } from "zod";
import { pollOptionId, toPollMessage } from "../../../network/content/poll.ts";
import { type GatewayError, invalidField } from "../../../platform/gateway-error.ts";
import type { StoredContent } from "../log/message-view.ts";
import { POLL_LIMITS, type pollsContract } from "./contract.ts";

export type AskInput = Pick<
  z.output<(typeof pollsContract)["ask"]["input"]>,
  "question" | "options" | "style" | "expires_at" | "send_at"
>;

/** The question of a request as a poll, or as a text with numbered options. */
export function readAskInput({ question, options, style, expires_at, send_at }: AskInput): StoredContent {
  const asked = send_at === undefined ? new Date() : new Date(send_at);
  if (expires_at && expires_at <= asked)
    throw invalidField("expires_at", "must be in the future and after send_at", "too_low", {
      min: asked.toISOString(),
    });
  const misfit = findMisfit(question, options);
  if (style === "poll" && misfit) throw misfit;
  return toQuestion(question, options, { style: misfit ? "text" : style, expires_at });
}

/** A question whose answer is reported with the id of the option. */
export function toQuestion(
  question: string,
  options: AskInput["options"],
  { style = "auto", expires_at }: Partial<Pick<AskInput, "style" | "expires_at">> = {},
): StoredContent {
  const asPoll = style !== "text" && !findMisfit(question, options);
  const content = toPollMessage({
    question,
    options: options.map(({ text }) => ({ id: pollOptionId(text), text })),
    selectable_count: 1,
  });
  const ask = { options, ...(expires_at && { expires_at: expires_at.toISOString() }) };
  return { ...(asPoll ? content : { kind: "text", text: content.text }), ask };
}

/** Why phones would not show the question as a poll. */
function findMisfit(question: string, options: AskInput["options"]): GatewayError | undefined {
  if (question.length > POLL_LIMITS.question)
    return invalidField("question", `of a poll may have ${POLL_LIMITS.question} characters`, "too_long", {
      max: POLL_LIMITS.question,
    });
  if (options.length < 2 || options.length > POLL_LIMITS.options)
    return invalidField("options", `of a poll must be 2 to ${POLL_LIMITS.options}`, "too_many", {
      max: POLL_LIMITS.options,
    });
  if (options.some(({ text }) => text.length > POLL_LIMITS.option))
    return invalidField("options", `of a poll may have ${POLL_LIMITS.option} characters each`, "too_long", {
      max: POLL_LIMITS.option,
    });
  const isDoubled = new Set(options.map(({ text }) => text)).size < options.length;
  return isDoubled ? invalidField("options", "of a poll must not have equal texts", "duplicate") : undefined;
}
