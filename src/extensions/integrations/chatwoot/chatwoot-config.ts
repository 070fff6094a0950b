import { z } from "zod";
import { rule } from "../../../platform/issue-codes.ts";
import { boundedText, trimmedText } from "../../../platform/text/bounded-text.ts";
import type { Integration } from "../integration-row.ts";
import { ignoreList, isReadableEntry, UNREADABLE_ENTRY } from "../is-on-ignore-list.ts";

const TRAILING_SLASHES = /(?<!\/)\/+$/;
const WEB_ADDRESS = /^https?:\/\/[^\s]+$/i;

/** Users paste their browser's address: removes the trailing slash and the API path. */
const baseUrl = trimmedText(2048)
  .regex(WEB_ADDRESS, "must be an http or https address")
  .refine((url) => URL.canParse(url), rule("must be an http or https address", "not_a_url"))
  .transform((url) => withoutPath(url));

const number = z.coerce.number().int().positive();

export const chatwootConfig = z
  .object({
    url: baseUrl,
    access_token: trimmedText(512).min(1),
    account_id: number,
    inbox_id: number.optional(),
    auto_create: z.boolean().default(false),
    inbox_name: trimmedText(100).min(1).default("WhatsApp"),
    force: z.boolean().default(false),
    sign_messages: z.boolean().default(false),
    signature_delimiter: boundedText(20).default("\n"),
    reopen_conversation: z.boolean().default(true),
    conversation_status: z.enum(["open", "pending"]).default("open"),
    groups: z.boolean().default(false),
    ignore_jids: ignoreList
      .refine((list) => list.every(isReadableEntry), rule(UNREADABLE_ENTRY, "wrong_format"))
      .default([]),
    sent_from_phone: z.enum(["message", "private_note", "off"]).default("message"),
    sync_status: z.boolean().default(true),
    mark_read: z.boolean().default(false),
    typing: z.boolean().default(false),
    keep_deleted: z.boolean().default(false),
    merge_brazil_contacts: z.boolean().default(false),
    all_audio_as_voice: z.boolean().default(false),
    files_from_url: z.boolean().default(false),
  })
  .refine(({ inbox_id, auto_create }) => inbox_id !== undefined || auto_create, {
    path: ["inbox_id"],
    ...rule("is required, or auto_create", "missing"),
  });

export type ChatwootConfig = z.output<typeof chatwootConfig>;

export const CHATWOOT_ALIASES = {
  url: ["apiUrl", "api_url", "base_url", "baseUrl"],
  access_token: ["apiToken", "api_token", "api_access_token", "accessToken", "token"],
  account_id: ["accountId"],
  inbox_id: ["inboxId"],
  auto_create: ["autoCreate"],
  inbox_name: ["inboxName", "nameInbox"],
  sign_messages: ["signMsg", "signMessages"],
  signature_delimiter: ["signDelimiter", "signatureDelimiter"],
  reopen_conversation: ["reopenConversation"],
  ignore_jids: ["ignoreJids"],
  merge_brazil_contacts: ["mergeBrazilContacts"],
};

/** What Chatwoot returned when the configuration was saved; its secrets are stored separately. */
export interface ChatwootState {
  inbox_identifier: string;
  version: string;
  /** The webhook URL that the gateway has set in the inbox, without its token. */
  webhook_base: string;
}

export function chatwootConfigOf({
  config,
}: Pick<Integration, "config">): ChatwootConfig & { inbox_id: number } {
  return config as ChatwootConfig & { inbox_id: number };
}

export function chatwootStateOf({ state }: Pick<Integration, "state">): ChatwootState {
  return state as unknown as ChatwootState;
}

/** The webhook URL that the gateway has set in the inbox. */
export function webhookUrlOf({ state, secrets }: Pick<Integration, "state" | "secrets">): string {
  return `${chatwootStateOf({ state }).webhook_base}${secrets.our_webhook_token}`;
}

/** The prefix of ids of posted messages: from any gateway and instance, it marks a WhatsApp message. */
export const SOURCE_ID_PREFIX = "WAID:";

/** The id that Chatwoot stores for a message of the instance. */
export function sourceId(instanceId: number, messageId: string): string {
  return `${SOURCE_ID_PREFIX}${instanceId}:${messageId}`;
}

function withoutPath(url: string): string {
  const bare = url.replace(/[?#].*/s, "").replace(TRAILING_SLASHES, "");
  return bare.replace(/\/(?:api(?:\/v1)?|app(?:\/.*)?)$/s, "").replace(TRAILING_SLASHES, "");
}
