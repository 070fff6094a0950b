import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import { type Chat, type ChatFilter, chatsKey, type Message, threadKey } from "./conversation-queries.ts";
import type { CursorPage } from "./cursor-pages.ts";

type Pages<Row> = InfiniteData<CursorPage<Row>, string>;

/** Whether the first page is loaded. Other lists get no new rows at their top. */
const hasBeginning = ({ pageParams }: Pages<unknown>) => pageParams[0] === "";

function mapRows<Row>(all: Pages<Row>, change: (row: Row) => Row): Pages<Row> {
  const pages = all.pages.map((page) => ({ ...page, data: page.data.map(change) }));
  return { ...all, pages };
}

/** Prepends a row if the first page is loaded. */
function addFirst<Row>(all: Pages<Row>, row: Row): Pages<Row> {
  const [first, ...rest] = all.pages;
  if (first === undefined || !hasBeginning(all)) return all;
  return { ...all, pages: [{ ...first, data: [row, ...first.data] }, ...rest] };
}

/** Updates a message wherever it is cached, or adds it to its thread. */
export function putMessage(client: QueryClient, id: number, message: Message): void {
  const key = threadKey(id, message.jid);
  for (const [queryKey, all] of client.getQueriesData<Pages<Message>>({ queryKey: key })) {
    if (all === undefined) continue;
    const isKnown = all.pages.some(({ data }) => data.some((one) => one.id === message.id));
    const isNewest = queryKey.at(-1) === "" && !isKnown;
    client.setQueryData<Pages<Message>>(
      queryKey,
      isNewest ? insert(all, message) : mapRows(all, (one) => (one.id === message.id ? message : one)),
    );
  }
}

/** Inserts a late message at its time. */
function insert(all: Pages<Message>, message: Message): Pages<Message> {
  const [first, ...rest] = all.pages;
  if (first === undefined || !hasBeginning(all)) return all;
  const at = first.data.findIndex(({ timestamp }) => timestamp <= message.timestamp);
  const data = [...first.data];
  data.splice(at === -1 ? data.length : at, 0, message);
  return { ...all, pages: [{ ...first, data }, ...rest] };
}

/** Updates the messages with these network ids in the thread of `jid`. */
export function changeMessages(
  client: QueryClient,
  id: number,
  jid: string,
  messageIds: readonly string[],
  change: (message: Message) => Message,
): void {
  const wanted = new Set(messageIds);
  client.setQueriesData<Pages<Message>>(
    { queryKey: threadKey(id, jid) },
    (all) => all && mapRows(all, (one) => (wanted.has(one.message_id) ? change(one) : one)),
  );
}

function isListed(chat: Chat, filter: ChatFilter): boolean {
  if (filter === "archived") return chat.archived;
  if (filter === "pinned") return chat.pinned;
  if (filter === "unread") return chat.unread_count > 0 || chat.marked_unread;
  return !chat.archived && (filter === "all" || chat.is_group);
}

/** Updates the chat in every list and moves it to its time. */
export function putChat(client: QueryClient, id: number, chat: Chat): void {
  for (const [queryKey, all] of client.getQueriesData<Pages<Chat>>({ queryKey: chatsKey(id) })) {
    if (all === undefined) continue;
    const [, , , filter, q] = queryKey as [string, number, string, ChatFilter, string];
    const old = all.pages.flatMap(({ data }) => data).find((one) => one.id === chat.id);
    const isShown = q === "" ? isListed(chat, filter) : old !== undefined;
    const isMoved = old?.last_message_at !== chat.last_message_at;
    client.setQueryData<Pages<Chat>>(queryKey, place(all, chat, isShown, isMoved));
  }
  for (const jid of [chat.jid, chat.lid, chat.phone]) if (jid !== null) replaceChat(client, id, jid, chat);
}

function replaceChat(client: QueryClient, id: number, jid: string, chat: Chat): void {
  const key = ["conversations", id, "chat", jid];
  if (client.getQueryState(key) !== undefined) client.setQueryData(key, chat);
}

function place(all: Pages<Chat>, chat: Chat, isShown: boolean, isMoved: boolean): Pages<Chat> {
  if (isShown && !isMoved) return mapRows(all, (one) => (one.id === chat.id ? chat : one));
  const pages = all.pages.map((page) => ({ ...page, data: page.data.filter(({ id }) => id !== chat.id) }));
  return isShown ? addFirst({ ...all, pages }, chat) : { ...all, pages };
}
