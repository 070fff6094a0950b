import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useLayoutEffect, useMemo, useRef } from "react";
import { useTranslations } from "use-intl";
import { Blank } from "../../components/blank.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { type ListQuery, useReading } from "../../components/use-reading.ts";
import { ChatRow } from "./chat-row.tsx";
import { type Chat, type ChatFilter, chatsQuery } from "./conversation-queries.ts";
import { flatten } from "./cursor-pages.ts";
import "./chat-list.css";

const ROW_HEIGHT = 72;

interface ChatListProps {
  id: number;
  filter: ChatFilter;
  q: string;
  chosen: string | undefined;
}

/** Any number of chats; only those in view are in the page. */
export function ChatList({ id, filter, q, chosen }: ChatListProps) {
  const t = useTranslations("conversations");
  const query = useInfiniteQuery(chatsQuery(id, filter, q));
  const chats = usePinnedFirst(id, filter, q, query.data?.pages);
  if (query.error && chats.length === 0)
    return <FaultNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingState />;
  if (chats.length === 0) {
    const kind = q === "" && filter === "all" ? "empty" : "nothing";
    return <Blank title={t(`${kind}Title`)} help={t(`${kind}Help`)} />;
  }
  return <Rows chats={chats} query={query} id={id} chosen={chosen} />;
}

/** Pinned chats stand above the others, as on the phone. */
function usePinnedFirst(
  id: number,
  filter: ChatFilter,
  q: string,
  pages: Parameters<typeof flatten<Chat>>[0],
) {
  const isWanted = filter === "all" && q === "";
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
  useReading(query, items[0]?.index ?? 0, items.at(-1)?.index ?? 0, chats.length);
  const first = chats[0]?.id;
  // A reader at the top sees what arrives there.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another chat is first
  useLayoutEffect(() => {
    if (isAtTop.current && !query.hasPreviousPage) frame.current?.scrollTo(0, 0);
  }, [first]);
  const focusRow = (index: number) => {
    list.scrollToIndex(index);
    requestAnimationFrame(() =>
      frame.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus(),
    );
  };
  const step = (event: KeyboardEvent) => {
    const at = Number((event.target as HTMLElement).closest("[data-index]")?.getAttribute("data-index"));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: chats.length - 1 }[event.key];
    if (next === undefined || Number.isNaN(at) || next < 0 || next >= chats.length) return;
    event.preventDefault();
    focusRow(next);
  };
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
            <li key={key} data-index={index} style={{ transform: `translateY(${start}px)` }}>
              <ChatRow id={id} chat={chat} isChosen={chosen === chat.jid || chosen === chat.phone} />
            </li>
          );
        })}
      </ul>
      {query.error !== null && <FaultNotice error={query.error} onRetry={() => void query.fetchNextPage()} />}
    </div>
  );
}
