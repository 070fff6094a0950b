import { z } from "zod";
import {
  isoTime,
  pageInput,
  pagination,
  queryFlag,
  route,
  rowId,
  searchAliases,
  searchInput,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { pointInTime } from "../../platform/point-in-time.ts";
import { boundedText, trimmedText } from "../../platform/text/bounded-text.ts";
import { recipientAliases, recipientFields } from "../contacts/contract.ts";
import { instanceId } from "../events/contract.ts";
import { SESSION_ERRORS } from "../instances/contract.ts";
import { storedMessage } from "../messages/contract.ts";

const listed = named(
  "ListedMessage",
  storedMessage.extend({ instance_id: z.number().int(), conversation_id: z.number().int() }),
);

const chat = named(
  "Chat",
  z.object({
    id: z.number().int(),
    instance_id: z.number().int(),
    jid: z.string(),
    lid: z.string().nullable(),
    phone: z.string().nullable(),
    title: z.string().nullable(),
    type: z.enum(["contact", "group"]),
    is_group: z.boolean(),
    unread_count: z
      .number()
      .int()
      .describe("Inbound messages that are not marked as read; counts up to 999."),
    marked_unread: z.boolean().describe("Whether the chat was marked as unread manually."),
    archived: z.boolean(),
    pinned: z.boolean(),
    muted: z.boolean(),
    muted_until: isoTime.nullable(),
    last_message_at: isoTime.nullable(),
    last_message: listed.nullable(),
  }),
);

const MESSAGE_TYPES = [
  "text",
  "image",
  "video",
  "audio",
  "ptt",
  "document",
  "sticker",
  "location",
  "contact",
  "unsupported",
] as const;
const STATUSES = [
  "scheduled",
  "pending",
  "sent",
  "delivered",
  "read",
  "played",
  "failed",
  "cancelled",
  "received",
] as const;

const messageFilter = {
  ...pageInput,
  direction: z.enum(["inbound", "outbound"]).optional(),
  type: z.enum(MESSAGE_TYPES).optional(),
  status: z.enum(STATUSES).optional(),
  track_id: boundedText(200).min(1).optional().describe("Only messages that were sent with this `track_id`."),
  from: pointInTime.optional().describe("Only messages at or after this time (ISO 8601)."),
  until: pointInTime.optional().describe("Only messages before this time (ISO 8601)."),
  q: trimmedText(200)
    .min(1)
    .optional()
    .describe(
      "Words of the message, in any order. Case and accents do not matter, and each word also matches longer words that begin with it.",
    ),
};
const filterAliases = {
  q: ["search", "query", "text"],
  from: ["since", "date_from"],
  until: ["to", "before", "date_to"],
};

const chatFilter = {
  ...searchInput,
  archived: queryFlag.optional(),
  pinned: queryFlag.optional(),
  unread: queryFlag.optional().describe("true: only chats with unread messages, or marked as unread."),
  type: z.enum(["contact", "group"]).optional(),
};

const tag = "Chats";
const beside = z.object({ pagination });

export const chatsContract = {
  listChats: route({
    http: "GET /api/v1/instances/:id/chats",
    heavy: "search",
    access: "instance",
    tag,
    summary: "List conversations with their last message and unread count, the newest first",
    message: "Chats",
    aliases: { ...searchAliases, chat: ["jid", "number", "phone", "chat_id", "chatId", "remoteJid"] },
    input: z.object({
      id: instanceId,
      chat: boundedText(120)
        .min(1)
        .optional()
        .describe("Only this chat, a JID, a LID or a number, with the other filters ignored."),
      ...chatFilter,
    }),
    output: z.array(chat),
    beside,
  }),
  listConversations: route({
    http: "GET /api/v1/conversations",
    heavy: "search",
    errors: ["NOT_FOUND"],
    access: "key",
    keepsToInstances: true,
    assistants: "by tools",
    tag,
    summary:
      "List the conversations of all instances of the account, or of one; a key reads its own instance unless its scope is `account`",
    message: "Conversations",
    aliases: { ...searchAliases, instance_id: ["instanceId", "instance"] },
    input: z.object({ instance_id: rowId.optional(), ...chatFilter }),
    output: z.array(chat),
    beside,
  }),
  listChatMessages: route({
    http: "GET /api/v1/instances/:id/chats/:jid/messages",
    access: "instance",
    tag,
    summary: "List the messages of a chat, newest first; `:jid` accepts a JID, a LID or a number",
    message: "Messages",
    aliases: filterAliases,
    input: z.object({ id: instanceId, jid: boundedText(120).min(1), ...messageFilter }),
    output: z.array(listed),
    beside,
  }),
  listMessages: route({
    http: "GET /api/v1/instances/:id/messages",
    heavy: "search",
    access: "instance",
    tag,
    summary: "List or search the messages of an instance, the newest first",
    message: "Messages",
    aliases: { ...filterAliases, chat: ["jid", "number", "phone", "chat_id", "chatId", "remoteJid"] },
    input: z.object({
      id: instanceId,
      chat: boundedText(120)
        .min(1)
        .optional()
        .describe("Only messages of this chat: a JID, a LID or a number."),
      ...messageFilter,
    }),
    output: z.array(listed),
    beside,
  }),
  listAccountMessages: route({
    http: "GET /api/v1/messages",
    heavy: "search",
    errors: ["NOT_FOUND"],
    access: "key",
    keepsToInstances: true,
    assistants: "by tools",
    tag,
    summary:
      "List or search the messages of all instances of the account, or of one; a key reads its own instance unless its scope is `account`",
    message: "Messages",
    aliases: {
      ...filterAliases,
      chat: ["jid", "number", "phone", "chat_id", "chatId", "remoteJid"],
      instance_id: ["instanceId", "instance"],
    },
    input: z.object({
      instance_id: rowId.optional(),
      chat: boundedText(120)
        .min(1)
        .optional()
        .describe("Only messages of this chat of the instance `instance_id`."),
      ...messageFilter,
    }),
    output: z.array(listed),
    beside,
  }),
  setChatState: route({
    http: "POST /api/v1/instances/:id/chats/state",
    requiresBody: true,
    errors: SESSION_ERRORS,
    access: "instance",
    tag,
    summary: "Archive, mute, pin or mark a chat as read on the phone, or undo it",
    message: "Chat changed",
    aliases: {
      number: [...recipientAliases.number, "chat", "lastMessage.key.remoteJid"],
      duration_seconds: ["durationSeconds", "duration"],
    },
    refuses: {
      muteEndTime: {
        issue: "is not supported: send duration_seconds with mute, or action unmute",
        isAsked: (value) => value !== undefined && value !== null,
      },
    },
    example: { number: "5511999990004", action: "archive" },
    input: z.object({
      id: instanceId,
      ...recipientFields,
      action: z
        .enum(["archive", "unarchive", "mute", "unmute", "pin", "unpin", "read", "unread"])
        .optional()
        .describe("The action; you can also send it as a field, such as `archive: true`."),
      state: z.boolean().default(true).describe("false: the opposite action."),
      duration_seconds: z.coerce
        .number()
        .int()
        .min(1, "must be at least 1")
        .max(315_360_000)
        .optional()
        .describe("How long the chat is muted. Default: one year."),
      archive: z.boolean().optional(),
      unarchive: z.boolean().optional(),
      mute: z.boolean().optional(),
      unmute: z.boolean().optional(),
      pin: z.boolean().optional(),
      unpin: z.boolean().optional(),
      read: z.boolean().optional(),
      unread: z.boolean().optional(),
    }),
    output: chat,
  }),
};
