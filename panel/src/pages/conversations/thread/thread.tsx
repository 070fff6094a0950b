import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useVirtualizer, type VirtualItem } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useFormatter, useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { EmptyState, LoadingState } from "../../../components/page-header.tsx";
import { type ListQuery, useInfiniteScroll } from "../../../components/use-infinite-scroll.ts";
import { type Chat, type Message, threadKey, threadQuery } from "../conversation-queries.ts";
import { flatten } from "../cursor-pages.ts";
import { summarise } from "../kinds/kinds.tsx";
import { dropAccepted, type useOutbox, type Waiting } from "../outbox.ts";
import { nameOf } from "../person-name.ts";
import type { ActionDeps } from "./message-actions.tsx";
import { MessageBubble } from "./message-bubble.tsx";
import { WaitingBubble } from "./waiting-bubble.tsx";
import "./thread.css";
import { gateway } from "../../../gateway/gateway.ts";
import { putMessage } from "../conversation-cache.ts";
import { readWithStaleCheck } from "../stale-reads.ts";

const BUBBLE_HEIGHT = 76;
const NEAR_END = 120;
const OVERSCAN = 5;

interface ThreadProps {
  chat: Chat;
  until: string;
  outbox: ReturnType<typeof useOutbox>;
  actions: ActionDeps;
}

type Line = { key: string | number; message: Message } | { key: string; entry: Waiting };

/** A virtual list of a chat's messages, oldest first. */
export function Thread({ chat, until, outbox, actions }: ThreadProps) {
  const t = useTranslations("conversations");
  const query = useInfiniteQuery(threadQuery(chat.instance_id, chat.jid, until));
  const messages = useMemo(() => flatten(query.data?.pages).reverse(), [query.data]);
  useTail(chat, until, messages);
  const { entries } = outbox;
  useEffect(() => dropAccepted(entries, messages), [entries, messages]);
  const lines = useMemo(() => toLines(messages, entries), [messages, entries]);
  if (query.error && messages.length === 0)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingState />;
  if (lines.length === 0)
    return (
      <div className="thread thread-empty">
        <EmptyState title={t("thread.emptyTitle")} help={t("thread.emptyHelp")} />
      </div>
    );
  return (
    <>
      <Lines lines={lines} query={query} chat={chat} until={until} outbox={outbox} actions={actions} />
      <Announcement message={messages.at(-1)} />
    </>
  );
}

/** Unsent messages come last, until their message exists. */
function toLines(messages: readonly Message[], entries: readonly Waiting[]): Line[] {
  const accepted = new Set(messages.map(({ track_id }) => track_id));
  return [
    ...messages.map((message) => ({ key: message.id, message })),
    ...entries.filter(({ key }) => !accepted.has(key)).map((entry) => ({ key: entry.key, entry })),
  ];
}

interface LinesProps extends ThreadProps {
  lines: readonly Line[];
  query: ListQuery;
}

function Lines({ lines, query, chat, until, outbox, actions }: LinesProps) {
  const t = useTranslations("conversations.thread");
  const frame = useRef<HTMLDivElement>(null);
  const list = useLineList(frame, lines, until);
  const items = list.getVirtualItems();
  const count = lines.length;
  // The query's next page is older, because the cursor starts at the newest message.
  const [oldest, newest] = [items[0]?.index ?? count - 1, items.at(-1)?.index ?? count - 1];
  useInfiniteScroll(query, count - 1 - newest, count - 1 - oldest, count);
  const step = useSteps(frame, count, (index) => list.scrollToIndex(index));
  const { stop, focus } = useTabStop(lines, items);
  const isAway = query.hasPreviousPage || newest < count - 1;
  return (
    <>
      {/* biome-ignore-start lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it */}
      {/* biome-ignore-start lint/a11y/noNoninteractiveElementInteractions: the arrows move between messages */}
      <section ref={frame} className="thread" tabIndex={0} aria-label={t("label")} onKeyDown={step}>
        <div className="thread-lines" style={{ height: list.getTotalSize() }}>
          {items.map(({ key, index, start }) => (
            // biome-ignore lint/a11y/noStaticElementInteractions: remembers which of its buttons has the focus
            <div
              key={key}
              ref={list.measureElement}
              data-index={index}
              data-found={until !== "" && index === count - 1 ? "" : undefined}
              className="thread-line"
              style={{ transform: `translateY(${start}px)` }}
              onFocus={() => focus(index)}
            >
              <ThreadLine {...{ lines, index, outbox, actions }} isTabStop={index === stop} />
            </div>
          ))}
        </div>
        {query.error !== null && (
          <ErrorNotice error={query.error} onRetry={() => void query.fetchNextPage()} />
        )}
      </section>
      {/* biome-ignore-end lint/a11y/noNoninteractiveTabindex: see above */}
      {/* biome-ignore-end lint/a11y/noNoninteractiveElementInteractions: see above */}
      <ToNewest
        chat={chat}
        until={until}
        isAway={isAway}
        arrived={useArrived(lines, isAway)}
        isCut={query.hasPreviousPage}
        onEnd={() => list.scrollToEnd()}
      />
    </>
  );
}

/** Stays scrolled to the end while the reader is there and heights change. */
function useLineList(frame: RefObject<HTMLDivElement | null>, lines: readonly Line[], until: string) {
  const list = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => BUBBLE_HEIGHT,
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: OVERSCAN,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
    paddingEnd: until === "" ? 0 : BUBBLE_HEIGHT,
  });
  const isAtEnd = useRef(true);
  const height = list.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the height changes
  useLayoutEffect(() => {
    if (isAtEnd.current) list.scrollToEnd();
  }, [list, height]);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const note = () => {
      const { scrollHeight, scrollTop, clientHeight } = element;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
    };
    const resized = new ResizeObserver(() => isAtEnd.current && list.scrollToEnd());
    element.addEventListener("scroll", note);
    resized.observe(element);
    return () => {
      element.removeEventListener("scroll", note);
      resized.disconnect();
    };
  }, [frame, list]);
  return list;
}

/** One Tab stop: the message that last had the focus, otherwise the newest visible one. */
function useTabStop(lines: readonly Line[], items: readonly VirtualItem[]) {
  const [current, setCurrent] = useState<Line["key"]>();
  const stop = (items.find(({ key }) => key === current) ?? items.at(-1))?.index;
  return { stop, focus: (index: number) => setCurrent(lines[index]?.key) };
}

/** How many messages arrived since the reader scrolled away from the end. */
function useArrived(lines: readonly Line[], isAway: boolean): number {
  const last = lines.at(-1)?.key;
  const seen = useRef(last);
  useEffect(() => {
    if (!isAway) seen.current = last;
  }, [isAway, last]);
  if (!isAway) return 0;
  const from = lines.findIndex(({ key }) => key === seen.current);
  return from === -1
    ? 0
    : lines.slice(from + 1).filter((line) => "message" in line && !line.message.from_me).length;
}

function useSteps(frame: RefObject<HTMLElement | null>, count: number, show: (index: number) => void) {
  return (event: KeyboardEvent<HTMLElement>) => {
    const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const from = (event.target as HTMLElement).closest("[data-index]")?.getAttribute("data-index");
    if (way === undefined || (event.target as HTMLElement).matches("input, textarea, audio, video")) return;
    const next = from == null ? (way < 0 ? count - 1 : -1) : Number(from) + way;
    if (next < 0 || next >= count) return;
    event.preventDefault();
    show(next);
    const button = () => frame.current?.querySelector<HTMLElement>(`[data-index="${next}"] footer button`);
    // A repeated key continues from the next message. A message out of view is rendered first.
    if (button()) button()?.focus();
    else requestAnimationFrame(() => button()?.focus());
  };
}

interface LineProps {
  lines: readonly Line[];
  index: number;
  isTabStop: boolean;
  outbox: ThreadProps["outbox"];
  actions: ActionDeps;
}

function ThreadLine({ lines, index, isTabStop, outbox, actions }: LineProps) {
  const line = lines[index];
  const before = lines[index - 1];
  if (line === undefined) return null;
  if ("entry" in line)
    return <WaitingBubble entry={line.entry} onRetry={outbox.retry} onDiscard={outbox.discard} />;
  const { message } = line;
  const last = before && "message" in before ? before.message : undefined;
  const isNewDay = last === undefined || dayOf(last.timestamp) !== dayOf(message.timestamp);
  const isNamed =
    message.is_group && !message.from_me && (isNewDay || last?.sender?.jid !== message.sender?.jid);
  return (
    <>
      {isNewDay && <Day at={message.timestamp} />}
      <MessageBubble message={message} isNamed={isNamed} isTabStop={isTabStop} {...actions} />
    </>
  );
}

function dayOf(at: string): string {
  return new Date(at).toDateString();
}

function Day({ at }: { at: string }) {
  const format = useFormatter();
  return (
    <p className="day">
      <time dateTime={at}>{format.dateTime(new Date(at), { dateStyle: "full" })}</time>
    </p>
  );
}

interface ToNewestProps {
  chat: Chat;
  until: string;
  isAway: boolean;
  arrived: number;
  isCut: boolean;
  onEnd(): void;
}

function ToNewest({ chat, until, isAway, arrived, isCut, onEnd }: ToNewestProps) {
  const t = useTranslations("conversations.thread");
  const client = useQueryClient();
  const { instance_id: id, jid } = chat;
  if (until !== "")
    return (
      <p className="to-newest">
        <Link
          to="/instances/$id/chats/$jid"
          params={{ id, jid }}
          search={({ at: _, ...now }) => now}
          className="button"
        >
          {t("newer")}
        </Link>
      </p>
    );
  if (!isAway) return null;
  const go = () => (isCut ? void client.resetQueries({ queryKey: threadKey(id, jid) }) : onEnd());
  return (
    <p className="to-newest">
      <ActionButton onPress={go}>{arrived > 0 ? t("arrived", { count: arrived }) : t("newest")}</ActionButton>
    </p>
  );
}

/** Announces a new message to screen readers. */
function Announcement({ message }: { message: Message | undefined }) {
  const t = useTranslations("conversations");
  const first = useRef(message?.id);
  const isNew = message !== undefined && message.id !== first.current && !message.from_me;
  return (
    <p className="visually-hidden" role="status">
      {isNew &&
        `${t("thread.from", { name: nameOf(message.sender ?? message) })}: ${summarise(message, t).slice(0, 200)}`}
    </p>
  );
}

const POLL_MS = 2_500;
const WATCHED = 20;
/** After this time offline, a phone rarely sends a receipt. */
const WATCHED_MS = 15 * 60_000;

/** Polls for receipts and stored files, which the live stream does not report, while one is expected. */
function useTail({ instance_id: id, jid }: Chat, until: string, messages: readonly Message[]): void {
  const client = useQueryClient();
  const isOpen = until === "" && messages.slice(-WATCHED).some(isUnderWay);
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ["conversations", id, "tail", jid],
    queryFn: async ({ signal }) => {
      const read = () => gateway.listChatMessages({ id, jid, limit: WATCHED }, { signal });
      const { found, isOutdated } = await readWithStaleCheck(read);
      return found.data.filter((message) => !isOutdated(message));
    },
    enabled: isOpen,
    refetchInterval: POLL_MS,
    staleTime: 0,
    gcTime: 0,
  });
  // Also if the value is unchanged: the thread may have changed meanwhile.
  useEffect(() => {
    if (dataUpdatedAt > 0) for (const message of data ?? []) putMessage(client, id, message);
  }, [client, id, data, dataUpdatedAt]);
}

function isUnderWay({ from_me, status, media, timestamp }: Message): boolean {
  if (Date.now() - Date.parse(timestamp) > WATCHED_MS) return false;
  return media?.status === "pending" || (from_me && (status === "pending" || status === "sent"));
}
