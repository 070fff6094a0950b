import { z } from "zod";
import { isoTime, pageInput, pagination, route, rowId } from "../../platform/http/route.ts";
import { pointInTime } from "../../platform/point-in-time.ts";
import { boundedText, trimmedText } from "../../platform/text/bounded-text.ts";
import { queryFlag, recipientAliases, recipientFields } from "../contacts/contract.ts";
import { instanceId } from "../events/contract.ts";
import { storedMessage } from "../messages/contract.ts";

const listed = storedMessage.extend({ instance_id: z.number(), conversation_id: z.number() });

const chat = z.object({
  id: z.number(),
  instance_id: z.number(),
  jid: z.string(),
  lid: z.string().nullable(),
  phone: z.string().nullable(),
  title: z.string().nullable(),
  type: z.enum(["contact", "group"]),
  is_group: z.boolean(),
  unread_count: z.number().describe("Messages not read by this end; not counted beyond 999."),
  marked_unread: z.boolean().describe("By hand."),
  archived: z.boolean(),
  pinned: z.boolean(),
  muted: z.boolean(),
  muted_until: isoTime.nullable(),
  last_message_at: isoTime.nullable(),
  last_message: listed.nullable(),
});

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
  "unreadable",
] as const;
const STATUSES = [
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
  track_id: boundedText(200).min(1).optional().describe("Only those that were sent with this `track_id`."),
  from: pointInTime.optional().describe("Not earlier than this time (ISO 8601)."),
  until: pointInTime.optional().describe("Earlier than this time."),
  q: trimmedText(200)
    .min(1)
    .optional()
    .describe(
      "Words that the message has, in any order, in any case, with or without accents; each may go on.",
    ),
};
const filterAliases = {
  q: ["search", "query", "text"],
  from: ["since", "date_from"],
  until: ["to", "before", "date_to"],
};

const chatFilter = {
  ...pageInput,
  archived: queryFlag.optional(),
  q: trimmedText(200).min(1).optional().describe("Part of the title or of the digits of the phone."),
};

const tag = "Chats";
const beside = z.object({ pagination });

export const chatsContract = {
  listChats: route({
    http: "GET /api/v1/instances/:id/chats",
    access: "instance",
    tag,
    summary: "List conversations with their last message and unread count, the newest first",
    message: "Chats",
    aliases: { q: ["search", "query"] },
    input: z.object({ id: instanceId, ...chatFilter }),
    output: z.array(chat),
    beside,
  }),
  listConversations: route({
    http: "GET /api/v1/conversations",
    access: "key",
    tag,
    summary:
      "List the conversations of all instances of the account, or of one; a key reads its own instance unless its scope is `account`",
    message: "Conversations",
    aliases: { q: ["search", "query"], instance_id: ["instanceId", "instance"] },
    input: z.object({ instance_id: rowId.optional(), ...chatFilter }),
    output: z.array(chat),
    beside,
  }),
  listChatMessages: route({
    http: "GET /api/v1/instances/:id/chats/:jid/messages",
    access: "instance",
    tag,
    summary: "List the messages of a chat, the newest first; `:jid` takes a jid, a LID or a number",
    message: "Messages",
    aliases: filterAliases,
    input: z.object({ id: instanceId, jid: boundedText(120).min(1), ...messageFilter }),
    output: z.array(listed),
    beside,
  }),
  listMessages: route({
    http: "GET /api/v1/instances/:id/messages",
    access: "instance",
    tag,
    summary: "List or search the messages of an instance, the newest first",
    message: "Messages",
    aliases: { ...filterAliases, chat: ["jid", "number", "phone", "chat_id", "chatId", "remoteJid"] },
    input: z.object({
      id: instanceId,
      chat: boundedText(120).min(1).optional().describe("Only of this chat: a jid, a LID or a number."),
      ...messageFilter,
    }),
    output: z.array(listed),
    beside,
  }),
  listAccountMessages: route({
    http: "GET /api/v1/messages",
    access: "key",
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
      chat: boundedText(120).min(1).optional().describe("Only of this chat of the instance that is named."),
      ...messageFilter,
    }),
    output: z.array(listed),
    beside,
  }),
  setChatState: route({
    http: "POST /api/v1/instances/:id/chats/state",
    access: "instance",
    tag,
    summary: "Archive, mute, pin or mark a chat as read on the phone, or take it back",
    message: "Chat changed",
    aliases: {
      number: [...recipientAliases.number, "chat", "lastMessage.key.remoteJid"],
      duration_seconds: ["durationSeconds", "duration"],
    },
    example: { number: "5511999990004", action: "archive" },
    input: z.object({
      id: instanceId,
      ...recipientFields,
      action: z
        .enum(["archive", "unarchive", "mute", "unmute", "pin", "unpin", "read", "unread"])
        .optional()
        .describe("Or the action as a field of its own, such as `archive: true`."),
      state: z.boolean().default(true).describe("false: the opposite action."),
      duration_seconds: z.coerce
        .number()
        .int()
        .min(1, "must be at least 1")
        .max(315_360_000)
        .optional()
        .describe("How long a chat is muted; a year unless told."),
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
