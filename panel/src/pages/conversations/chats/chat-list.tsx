import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, memo, type RefObject, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { EmptyState, LoadingState } from "../../../components/page-header.tsx";
import { type ListQuery, useInfiniteScroll } from "../../../components/use-infinite-scroll.ts";
import { type Chat, type ChatFilter, chatsQuery } from "../conversation-queries.ts";
import { flatten } from "../cursor-pages.ts";
import "./chat-list.css";
import { Link } from "@tanstack/react-router";
import { useShortcuts } from "../../../shell/shortcuts.tsx";
import { summarise } from "../kinds/kinds.tsx";
import { MessageStatus } from "../message-status.tsx";
import { initialsOf, nameOf, titleOf } from "../person-name.ts";

const ROW_HEIGHT = 72;

interface ChatListProps {
  id: number;
  filter: ChatFilter;
  chosen: string | undefined;
}

/** A virtual list of all chats. */
export function ChatList({ id, filter, chosen }: ChatListProps) {
  const t = useTranslations("conversations");
  const query = useInfiniteQuery(chatsQuery(id, filter, ""));
  const chats = usePinnedFirst(id, filter, query.data?.pages);
  if (query.error && chats.length === 0)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingState />;
  if (chats.length === 0) {
    const kind = filter === "all" ? "empty" : "nothing";
    return <EmptyState title={t(`${kind}Title`)} help={t(`${kind}Help`)} />;
  }
  return <Rows chats={chats} query={query} id={id} chosen={chosen} />;
}

/** Pinned chats come first, as on the phone. */
function usePinnedFirst(id: number, filter: ChatFilter, pages: Parameters<typeof flatten<Chat>>[0]) {
  const isWanted = filter === "all";
  const { data } = useInfiniteQuery({ ...chatsQuery(id, "pinned", ""), enabled: isWanted });
  return useMemo(() => {
    const pinned = isWanted ? flatten(data?.pages).filter(({ archived }) => !archived) : [];
    const above = new Set(pinned.map((chat) => chat.id));
    return [...pinned, ...flatten(pages).filter((chat) => !above.has(chat.id))];
  }, [isWanted, data, pages]);
}

interface RowsProps {
  chats: readonly Chat[];
  query: ListQuery;
  id: number;
  chosen: string | undefined;
}

function Rows({ chats, query, id, chosen }: RowsProps) {
  const t = useTranslations("conversations");
  const frame = useRef<HTMLDivElement>(null);
  const isAtTop = useRef(true);
  const list = useVirtualizer({
    count: chats.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => chats[index]?.id ?? index,
    overscan: 4,
    anchorTo: "end",
  });
  const items = list.getVirtualItems();
  useInfiniteScroll(query, items[0]?.index ?? 0, items.at(-1)?.index ?? 0, chats.length);
  const first = chats[0]?.id;
  // A reader at the top sees what arrives there.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another chat is first
  useLayoutEffect(() => {
    if (isAtTop.current && !query.hasPreviousPage) frame.current?.scrollTo(0, 0);
  }, [first]);
  const { stop, step, setCurrent } = useRowKeys(frame, list, chats, chosen);
  return (
    <div
      ref={frame}
      className="chat-scroll"
      onScroll={({ currentTarget }) => {
        isAtTop.current = currentTarget.scrollTop < ROW_HEIGHT / 2;
      }}
    >
      <ul
        className="chat-rows"
        style={{ height: list.getTotalSize() }}
        aria-label={t("list")}
        onKeyDown={step}
      >
        {items.map(({ key, index, start }) => {
          const chat = chats[index];
          if (!chat) return null;
          return (
            <li
              key={key}
              data-index={index}
              style={{ transform: `translateY(${start}px)` }}
              onFocus={() => setCurrent(chat.id)}
            >
              <ChatRow id={id} chat={chat} isChosen={isCalled(chat, chosen)} isTabStop={index === stop} />
            </li>
          );
        })}
      </ul>
      {query.error !== null && <ErrorNotice error={query.error} onRetry={() => void query.fetchNextPage()} />}
    </div>
  );
}

/** One Tab stop; arrow keys move between rows. */
function useRowKeys(
  frame: RefObject<HTMLDivElement | null>,
  list: Virtualizer<HTMLDivElement, Element>,
  chats: readonly Chat[],
  chosen: string | undefined,
) {
  const [current, setCurrent] = useState<number>();
  const at = indexOfStop(chats, current, chosen);
  const items = list.getVirtualItems();
  // If the row is out of view, the first visible row is the stop.
  const stop = items.some(({ index }) => index === at) ? at : items[0]?.index;
  const focusRow = (index: number) => {
    if (index < 0 || index >= chats.length) return false;
    list.scrollToIndex(index);
    requestAnimationFrame(() =>
      frame.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus(),
    );
    return true;
  };
  useShortcuts({ j: () => focusRow(at + 1), k: () => focusRow(at - 1) });
  const step = (event: KeyboardEvent) => {
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: chats.length - 1 }[event.key];
    if (next !== undefined && focusRow(next)) event.preventDefault();
  };
  return { stop, step, setCurrent };
}

export const isCalled = ({ jid, phone }: Chat, chosen: string | undefined) =>
  chosen === jid || chosen === phone;

/** The row that last had the focus, otherwise the open chat; -1 if neither is listed. */
function indexOfStop(
  chats: readonly Chat[],
  current: number | undefined,
  chosen: string | undefined,
): number {
  const focused = chats.findIndex(({ id }) => id === current);
  return focused === -1 ? chats.findIndex((chat) => isCalled(chat, chosen)) : focused;
}

interface ChatRowProps {
  id: number;
  chat: Chat;
  isChosen: boolean;
  /** Undefined leaves it to the list. */
  isTabStop?: boolean;
}

export const ChatRow = memo(function ChatRow({ id, chat, isChosen, isTabStop }: ChatRowProps) {
  const title = titleOf(chat);
  return (
    <Link
      to="/instances/$id/chats/$jid"
      params={{ id, jid: chat.jid }}
      search={({ at: _, ...now }) => now}
      className="chat-row"
      aria-current={isChosen ? "page" : undefined}
      tabIndex={isTabStop === false ? -1 : undefined}
      preload={false}
    >
      <span className="avatar" aria-hidden="true" data-group={chat.is_group ? "" : undefined}>
        {initialsOf(title)}
      </span>
      <span className="chat-title">{title}</span>
      <ChatTime at={chat.last_message_at} />
      <span className="chat-preview">
        <Preview chat={chat} />
      </span>
      <Marks chat={chat} />
    </Link>
  );
});

function Preview({ chat: { last_message: message, is_group } }: { chat: Chat }) {
  const t = useTranslations("conversations");
  if (message === null) return null;
  const writer = is_group && !message.from_me && message.sender ? `${nameOf(message.sender)}: ` : "";
  return (
    <>
      {message.from_me && <MessageStatus status={message.status} />}
      <span>{`${writer}${summarise(message, t)}`.slice(0, 120)}</span>
    </>
  );
}

function Marks({ chat }: { chat: Chat }) {
  const t = useTranslations("conversations.marks");
  const count = chat.unread_count;
  return (
    <span className="chat-badges">
      {chat.muted && <span>{t("muted")}</span>}
      {chat.pinned && <span>{t("pinned")}</span>}
      {chat.archived && <span>{t("archived")}</span>}
      {(count > 0 || chat.marked_unread) && (
        <span className="unread-count">
          <span aria-hidden="true">{count >= 999 ? "999+" : count || "•"}</span>
          <span className="visually-hidden">{t("unread", { count })}</span>
        </span>
      )}
    </span>
  );
}

const RECENT_MS = 300 * 86_400_000;
const HOUR = { timeStyle: "short" } as const;
const DAY = { day: "numeric", month: "short" } as const;

/** The time if it is today, otherwise the date. */
function ChatTime({ at }: { at: string | null }) {
  const format = useFormatter();
  if (at === null) return <span />;
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const isRecent = Date.now() - date.getTime() < RECENT_MS;
  return (
    <time dateTime={at} title={format.dateTime(date, { dateStyle: "full", timeStyle: "long" })}>
      {format.dateTime(date, isToday ? HOUR : isRecent ? DAY : { ...DAY, year: "numeric" })}
    </time>
  );
}
