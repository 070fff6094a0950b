import { z } from "zod";
import { route } from "../../../platform/http/route.ts";
import { named } from "../../../platform/http/schema-name.ts";
import { rule } from "../../../platform/issue-codes.ts";
import { pointInTime } from "../../../platform/point-in-time.ts";
import { boundedText, trimmedText } from "../../../platform/text/bounded-text.ts";
import { instanceId } from "../../events/contract.ts";
import { person, pollOption, send, sendAliases, sendFields } from "../contract.ts";
import { REFUSED_FIELDS } from "../refused-fields.ts";

/** What phones show of a poll. */
export const POLL_LIMITS = { question: 255, option: 100, options: 12 } as const;

const pollFields = {
  question: trimmedText(POLL_LIMITS.question).min(1),
  options: z
    .array(trimmedText(POLL_LIMITS.option).min(1))
    .min(2)
    .max(POLL_LIMITS.options)
    .refine(
      (options) => new Set(options).size === options.length,
      rule("must not have two equal options", "duplicate"),
    ),
  multiple: z.boolean().optional().describe("true: a person may choose several options."),
  selectable_count: z.coerce
    .number()
    .int()
    .min(0)
    .max(POLL_LIMITS.options)
    .optional()
    .describe(
      "How many options a person may choose; 0: any number. Default: 1, or any number if `multiple`.",
    ),
  hide_voters: z
    .boolean()
    .default(false)
    .describe("true: nobody sees who voted; the gateway reports counts without names too."),
  ends_at: pointInTime.optional().describe("Phones accept no votes after this time."),
};

const pollAliases = {
  question: ["name", "title", "poll.name", "poll.question"],
  options: ["values", "choices", "poll.options", "poll.values"],
  multiple: ["multipleAnswers", "poll.multipleAnswers"],
  selectable_count: ["selectableCount", "poll.selectableCount"],
  hide_voters: ["hideVoters"],
  ends_at: ["endsAt"],
};

const askFields = {
  question: trimmedText(4096).min(1),
  options: z
    .array(z.object({ id: trimmedText(200).min(1), text: trimmedText(1000).min(1) }))
    .min(2)
    .max(POLL_LIMITS.options)
    .refine(
      (options) => new Set(options.map(({ id }) => id)).size === options.length,
      rule("must not have two equal ids", "duplicate"),
    ),
  style: z
    .enum(["auto", "poll", "text"])
    .default("auto")
    .describe(
      "`auto`: a poll, or a text with numbered options if the question or an option is too long for a poll, or two texts are equal.",
    ),
  expires_at: pointInTime.optional().describe("Later answers are not reported."),
};

const voter = named(
  "Voter",
  person.extend({
    name: z.string().nullable(),
    at: z.iso.datetime().describe("When the person voted last."),
  }),
);

export const pollsContract = {
  sendPoll: route({
    http: "POST /api/v1/instances/:id/send-poll",
    summary: "Send a poll of 2 to 12 options; its votes are counted at `GET .../messages/:messageId/votes`",
    ...send,
    aliases: { ...sendAliases, ...pollAliases },
    refuses: REFUSED_FIELDS.poll,
    example: { number: "5511999990004", question: "Lunch?", options: ["Pizza", "Sushi"] },
    input: z
      .object({ id: instanceId, ...sendFields, ...pollFields })
      .refine(({ multiple, selectable_count }) => !(multiple && selectable_count === 1), {
        ...rule("must not be 1 if `multiple` is true", "not_allowed_here"),
        path: ["selectable_count"],
      })
      .refine(({ multiple, selectable_count }) => multiple !== false || (selectable_count ?? 1) === 1, {
        ...rule("must be 1 if `multiple` is false", "not_allowed_here"),
        path: ["selectable_count"],
      }),
  }),
  ask: route({
    http: "POST /api/v1/instances/:id/ask",
    summary:
      "Ask a question with options; the event `answer.received` reports the first answer, a vote or a text",
    ...send,
    aliases: { ...sendAliases, expires_at: ["expiresAt"] },
    refuses: REFUSED_FIELDS.poll,
    example: {
      number: "5511999990004",
      question: "Shall we deliver today?",
      options: [
        { id: "yes", text: "Yes" },
        { id: "no", text: "No" },
      ],
    },
    input: z.object({ id: instanceId, ...sendFields, ...askFields }),
  }),
  listVotes: route({
    http: "GET /api/v1/instances/:id/messages/:messageId/votes",
    errors: ["MESSAGE_NOT_FOUND", "CONFLICT"],
    access: "instance",
    tag: "Messages",
    summary: "Count the votes of a poll that this instance sent or received",
    message: "Votes",
    input: z.object({ id: instanceId, messageId: boundedText(128).min(1) }),
    output: z.object({
      question: z.string(),
      options: z.array(
        pollOption.extend({
          count: z.number().int(),
          voters: z
            .array(voter)
            .describe("At most 1,024, the latest first; empty if the poll hides its voters."),
        }),
      ),
      voters: z.number().int().describe("People who have chosen an option."),
      ends_at: z.iso.datetime().nullable(),
    }),
  }),
};
