import { queryOptions } from "@tanstack/react-query";
import { WaygateError } from "../../../../packages/client/src/waygate-error.ts";
import { gateway } from "../../gateway/gateway.ts";
import { cursorPages } from "./cursor-pages.ts";

export type Chat = Awaited<ReturnType<typeof gateway.listChats>>["data"][number];
export type Message = Omit<
  Awaited<ReturnType<typeof gateway.listChatMessages>>["data"][number],
  "instance_id" | "conversation_id"
>;
export type LeadDetails = Awaited<ReturnType<typeof gateway.getLeadDetails>>["data"];
export type QuickReply = Awaited<ReturnType<typeof gateway.listQuickReplies>>["data"][number];

export const CHAT_FILTERS = ["all", "unread", "groups", "pinned", "archived"] as const;
export type ChatFilter = (typeof CHAT_FILTERS)[number];

export const CHATS_PER_PAGE = 60;
export const MESSAGES_PER_PAGE = 40;

const INPUTS = {
  all: { archived: false },
  unread: { unread: true },
  groups: { type: "group", archived: false },
  pinned: { pinned: true },
  archived: { archived: true },
} as const satisfies Record<ChatFilter, object>;

export const chatsKey = (id: number) => ["conversations", id, "chats"] as const;

export const chatsQuery = (id: number, filter: ChatFilter, q: string) =>
  cursorPages<Chat>([...chatsKey(id), filter, q], async (cursor, signal) =>
    gateway.listChats(
      {
        id,
        limit: CHATS_PER_PAGE,
        // A search includes archived chats.
        ...(q === "" ? INPUTS[filter] : { q }),
        ...(cursor && { cursor }),
      },
      { signal },
    ),
  );

/** The next (1) or previous (-1) unread chat in the list; undefined if there is none. */
export async function findUnread(
  id: number,
  open: string | undefined,
  step: 1 | -1,
): Promise<Chat | undefined> {
  const { data } = await gateway.listChats({ id, unread: true, archived: false, limit: CHATS_PER_PAGE });
  const at = data.findIndex(({ jid, phone }) => jid === open || phone === open);
  const next = at === -1 ? data.at(step === 1 ? 0 : -1) : data[(at + step + data.length) % data.length];
  return next === data[at] ? undefined : next;
}

/** A chat by any of its addresses; null if it has no message. */
export const chatQuery = (id: number, jid: string) =>
  queryOptions({
    queryKey: ["conversations", id, "chat", jid],
    queryFn: async ({ signal }) => readChat(id, jid, signal),
  });

export async function readChat(id: number, chat: string, signal?: AbortSignal): Promise<Chat | null> {
  const request = gateway.listChats({ id, chat }, signal ? { signal } : {});
  const found = await request.catch(orNothing);
  return found?.data[0] ?? null;
}

function orNothing(error: unknown): undefined {
  if (error instanceof WaygateError && error.status === 404) return undefined;
  throw error;
}

export const threadKey = (id: number, jid: string) => ["conversations", id, "thread", jid] as const;

/** The messages of a chat, newest first; `until` limits them to earlier ones. */
export const threadQuery = (id: number, jid: string, until: string) =>
  cursorPages<Message>([...threadKey(id, jid), until], async (cursor, signal) => {
    const page = { ...(cursor && { cursor }), ...(until && { until }) };
    const request = gateway.listChatMessages({ id, jid, limit: MESSAGES_PER_PAGE, ...page }, { signal });
    return (await request.catch(orNothing)) ?? { data: [], pagination: { next_cursor: null } };
  });

export const messageSearchQuery = (id: number, q: string) =>
  cursorPages<Message>(["conversations", id, "search", q], async (cursor, signal) =>
    gateway.listMessages({ id, q, limit: 20, ...(cursor && { cursor }) }, { signal }),
  );

export const messageErrorQuery = (id: number, messageId: string) =>
  queryOptions({
    queryKey: ["conversations", id, "error", messageId],
    queryFn: async ({ signal }) => (await gateway.getMessage({ id, messageId }, { signal })).data.error,
  });

export const receiptsQuery = (id: number, messageId: string) =>
  queryOptions({
    queryKey: ["conversations", id, "receipts", messageId],
    queryFn: async ({ signal }) => (await gateway.getMessageReceipts({ id, messageId }, { signal })).data,
  });

export const contactQuery = (id: number, jid: string) =>
  queryOptions({
    queryKey: ["conversations", id, "contact", jid],
    queryFn: async ({ signal }) => (await gateway.contactInfo({ id, jid }, { signal })).data,
    staleTime: 60_000,
  });

/** The lead with exactly this phone, or null. */
export const leadQuery = (phone: string) =>
  queryOptions({
    queryKey: ["conversations", "lead", phone],
    queryFn: async ({ signal }) => {
      const { data } = await gateway.listLeads({ q: phone, limit: 50 }, { signal });
      const found = data.find((lead) => lead.phone === phone);
      return found ? (await gateway.getLeadDetails({ id: found.id }, { signal })).data : null;
    },
  });

export const customFieldsQuery = queryOptions({
  queryKey: ["conversations", "custom-fields"],
  queryFn: async ({ signal }) => {
    const { data } = await gateway.listCustomFields({ limit: 200 }, { signal });
    return data.toSorted((a, b) => a.name.localeCompare(b.name));
  },
  staleTime: 60_000,
});

export const consentQuery = (phone: string) =>
  queryOptions({
    queryKey: ["conversations", "consent", phone],
    queryFn: async ({ signal }) =>
      (await gateway.listConsent({ userId: "me", phone: `+${phone}`, limit: 50 }, { signal })).data,
  });

export const quickRepliesQuery = queryOptions({
  queryKey: ["conversations", "quick-replies"],
  queryFn: async ({ signal }) => (await gateway.listQuickReplies({ limit: 200 }, { signal })).data,
  staleTime: 60_000,
});
