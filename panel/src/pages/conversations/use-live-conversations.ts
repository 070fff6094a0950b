import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { gateway } from "../../gateway/gateway.ts";
import { type LiveEvent, useLiveEvent } from "../../gateway/live-events.ts";
import { changeMessages, putChat, putMessage } from "./conversation-cache.ts";
import { type Message, readChat, threadKey } from "./conversation-queries.ts";
import { markChanged, readWithStaleCheck, refetchAfterRead } from "./stale-reads.ts";

/** Events of one chat come in bursts, so it is fetched once per burst. */
const GATHER_MS = 250;
/** If more chats changed at once, the list is refetched. */
const MOST_AT_ONCE = 12;

interface MessageEvent {
  message?: Omit<Message, "send_at" | "edited_at" | "deleted_at" | "reactions">;
  conversation?: { jid: string };
  message_id?: string;
  message_ids?: string[];
  jid?: string;
  at?: string;
  text?: string | null;
  reaction?: string | null;
  removed?: boolean;
  sender?: Message["reactions"][number]["sender"];
  direction?: "inbound" | "outbound";
  media?: Message["media"];
}

/** Applies live events to the cached chats and threads of an instance. */
export function useLiveConversations(id: number): void {
  const client = useQueryClient();
  const changed = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLiveEvent((event) => {
    if (event.instance.id !== id || !/^(message|media)\./.test(event.event)) return;
    const data = event.data as MessageEvent;
    applyEvent(client, id, event, data);
    const jid = data.conversation?.jid ?? data.jid;
    if (jid === undefined) return;
    changed.current.add(jid);
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      const jids = [...changed.current];
      changed.current.clear();
      void refreshChats(client, id, jids);
    }, GATHER_MS);
  });
}

async function refreshChats(client: QueryClient, id: number, jids: readonly string[]): Promise<void> {
  if (jids.length > MOST_AT_ONCE) {
    await client.invalidateQueries({ queryKey: ["conversations", id, "chats"] });
    return;
  }
  const chats = await Promise.all(jids.map((jid) => readChat(id, jid).catch(() => null)));
  for (const chat of chats) if (chat) putChat(client, id, chat);
}

function applyEvent(client: QueryClient, id: number, event: LiveEvent, data: MessageEvent): void {
  const { message } = data;
  const jid = data.conversation?.jid ?? data.jid ?? "";
  const change = (ids: readonly string[], to: (one: Message) => Message) =>
    changeMessages(client, id, jid, ids, to);
  const ids = [data.message_id ?? []].flat();
  const at = data.at ?? null;
  markChanged([...ids, ...(data.message_ids ?? []), ...(message ? [message.id, message.message_id] : [])]);
  refetchAfterRead(client, threadKey(id, jid));
  switch (event.event) {
    case "message.received":
    case "message.sent":
    case "message.failed":
      if ("truncated" in event) void reloadMessage(client, id, message?.message_id);
      else if (message) putMessage(client, id, { ...message, ...UNCHANGED });
      return;
    case "message.delivered":
    case "message.read":
      applyReceipt(client, id, event.event, data, jid);
      return;
    case "message.edited":
      // Without a new text, the cached message is unchanged.
      if (typeof data.text === "string") {
        const { text } = data;
        change(ids, (one) => ({ ...one, ...withText(one, text), edited_at: at }));
      }
      return;
    case "message.deleted":
      change(ids, (one) => ({ ...one, deleted_at: at }));
      return;
    case "message.reaction":
      change(ids, (one) => ({ ...one, reactions: react(one, data) }));
      return;
    case "media.ready":
      change(ids, (one) => ({ ...one, media: data.media ?? one.media }));
  }
}

function applyReceipt(
  client: QueryClient,
  id: number,
  event: "message.delivered" | "message.read",
  { message_ids = [], direction, message }: MessageEvent,
  jid: string,
): void {
  if (direction === "inbound") return;
  // Each group member sends a receipt; the gateway aggregates them.
  if (jid.endsWith("@g.us")) {
    void client.invalidateQueries({ queryKey: threadKey(id, jid) });
    return;
  }
  const reached = event === "message.read" ? (message?.status === "played" ? "played" : "read") : "delivered";
  changeMessages(client, id, jid, message_ids, (one) =>
    RANKS[reached] > RANKS[one.status] ? { ...one, status: reached } : one,
  );
}

const RANKS: Readonly<Record<Message["status"], number>> = {
  scheduled: 0,
  pending: 0,
  failed: 1,
  cancelled: 1,
  received: 1,
  sent: 2,
  delivered: 3,
  read: 4,
  played: 5,
};

function withText({ type }: Message, text: string): Partial<Message> {
  return type === "text" ? { text } : { caption: text };
}

function react(one: Message, { reaction, removed, sender, at }: MessageEvent): Message["reactions"] {
  if (sender === undefined) return one.reactions;
  const others = one.reactions.filter(
    (other) => other.sender.jid !== sender.jid && (sender.lid === null || other.sender.lid !== sender.lid),
  );
  if (removed || !reaction) return others;
  return [...others, { reaction, sender, at: at ?? "" }];
}

/** Fetches a message after an own change or a truncated event. */
export async function reloadMessage(client: QueryClient, id: number, messageId?: string): Promise<void> {
  if (messageId === undefined) return;
  const { found, isOutdated } = await readWithStaleCheck(() => gateway.getMessage({ id, messageId }));
  const { error: _error, client_message_id: _own, metadata: _metadata, ...message } = found.data;
  if (isOutdated(message)) return reloadMessage(client, id, messageId);
  putMessage(client, id, message);
}

const UNCHANGED = {
  send_at: null,
  edited_at: null,
  deleted_at: null,
  reactions: [],
} satisfies Partial<Message>;
