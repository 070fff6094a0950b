import { z } from "zod";
import { httpUrl } from "../../../core/webhooks/contract.ts";
import { rule } from "../../../platform/issue-codes.ts";
import { boundedText, trimmedText } from "../../../platform/text/bounded-text.ts";
import { ignoreList, isReadableEntry, UNREADABLE_ENTRY } from "../is-on-ignore-list.ts";
import { replyLimitFields } from "../reply-limit.ts";
import { findTriggerProblem } from "./bot-trigger.ts";

const word = trimmedText(100).min(1);
const waitMs = z.number().int().min(0).max(60_000);

/** A configuration as it was saved, also under earlier rules. */
export const savedTypebotConfig = z.object({
  /** The viewer's URL, without the `/api` that users often paste too. */
  base_url: httpUrl.transform((url) => url.replace(/(?<!\/)\/+$/, "").replace(/\/api$/, "")),
  public_id: trimmedText(200).regex(
    /^[\w.-]+$/,
    "must be the last part of the bot's address, such as my-typebot-x1y2z3",
  ),
  api_token: boundedText(4096)
    .regex(/^[\x21-\x7e]+$/, "may contain only visible ASCII characters")
    .optional(),
  trigger: z.enum(["all", "keyword"]).default("all"),
  trigger_operator: z.enum(["equals", "contains", "startsWith", "regex"]).default("equals"),
  trigger_value: boundedText(500).default(""),
  stop_keywords: z.array(word).max(50).default([]),
  restart_keywords: z.array(word).max(50).default([]),
  /** Four hours, Typebot's own value for WhatsApp. */
  session_expiry_minutes: z.number().int().min(1).max(43_200).default(240),
  on_end: z.enum(["close", "keep_closed"]).default("close"),
  keep_closed_for_minutes: z.number().int().min(1).max(43_200).default(60),
  ignore_groups: z.boolean().default(true),
  ignore_jids: ignoreList.default([]),
  /** 0: a person who writes in the chat does not stop the bot. */
  pause_on_human_minutes: z.number().int().min(0).max(43_200).default(60),
  debounce_ms: z.number().int().min(0).max(10_000).default(0),
  min_delay_ms: waitMs.default(0),
  max_delay_ms: waitMs.default(5_000),
  typing_presence: z.boolean().default(true),
  /** `poll`: buttons of which one can be chosen go out as a poll. */
  choices: z.enum(["text", "poll"]).default("text"),
  unsupported_message: boundedText(4_096).default("Sorry, I can only read text here."),
  goodbye_message: boundedText(4_096).default(""),
  variables: z.record(boundedText(100), z.union([boundedText(4_096), z.number(), z.boolean()])).default({}),
  ...replyLimitFields,
  max_wait_seconds: z.number().int().min(0).max(120).default(10),
});

/** A configuration that may be saved now. */
export const typebotConfig = savedTypebotConfig
  .refine(({ ignore_jids }) => ignore_jids.every(isReadableEntry), {
    path: ["ignore_jids"],
    ...rule(UNREADABLE_ENTRY, "wrong_format"),
  })
  .refine(({ trigger, trigger_value }) => trigger === "all" || trigger_value.trim() !== "", {
    path: ["trigger_value"],
    ...rule("is required for a keyword", "missing"),
  })
  .superRefine((config, context) => {
    const message = findTriggerProblem(config);
    if (message === undefined) return;
    const { params } = rule(message, "wrong_format");
    context.addIssue({ code: "custom", path: ["trigger_value"], message, params });
  })
  .refine(({ min_delay_ms, max_delay_ms }) => min_delay_ms <= max_delay_ms, {
    path: ["min_delay_ms"],
    ...rule("is more than max_delay_ms", "greater_than", { other: "max_delay_ms" }),
  });

export type TypebotConfig = z.output<typeof typebotConfig>;

export const TYPEBOT_ALIASES = {
  base_url: ["baseUrl", "url", "apiHost"],
  public_id: ["publicId", "typebot"],
  api_token: ["apiToken", "token"],
  trigger: ["triggerType"],
  trigger_operator: ["triggerOperator"],
  trigger_value: ["triggerValue"],
  stop_keywords: ["stopKeywords"],
  restart_keywords: ["restartKeywords"],
  session_expiry_minutes: ["sessionExpiryMinutes", "expire"],
  ignore_groups: ["ignoreGroups"],
  ignore_jids: ["ignoreJids"],
  unsupported_message: ["unsupportedMessage", "unknownMessage"],
};
