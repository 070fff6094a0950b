import { type QueryClient, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { RelativeTime } from "../../../components/formats.tsx";
import { EmptyState, LoadingState, LoadMore } from "../../../components/page-header.tsx";
import { resultsRovingTabIndex } from "../../../components/roving-tab-index.ts";
import {
  type Chat,
  chatsKey,
  chatsQuery,
  type Message,
  messageSearchQuery,
} from "../conversation-queries.ts";
import { type CursorPage, flatten } from "../cursor-pages.ts";
import { summarise } from "../kinds/kinds.tsx";
import { nameOf, titleOf } from "../person-name.ts";
import { ChatRow, isCalled } from "./chat-list.tsx";

interface SearchResultsProps {
  id: number;
  q: string;
  chosen: string | undefined;
}

/** Chats whose name or number matches, then messages that match. */
export function SearchResults({ id, q, chosen }: SearchResultsProps) {
  const t = useTranslations("conversations");
  const chats = useInfiniteQuery(chatsQuery(id, "all", q));
  const messages = useInfiniteQuery(messageSearchQuery(id, q));
  const [foundChats, foundMessages] = [flatten(chats.data?.pages), flatten(messages.data?.pages)];
  const failed = [chats, messages].find(({ error }) => error !== null);
  if (failed) return <ErrorNotice error={failed.error} onRetry={() => void failed.refetch()} />;
  if (!chats.data || !messages.data) return <LoadingState />;
  if (foundChats.length + foundMessages.length === 0)
    return <EmptyState title={t("nothingTitle")} help={t("nothingHelp")} />;
  return (
    <div ref={resultsRovingTabIndex} className="chat-scroll">
      {foundChats.length > 0 && (
        <section className="results">
          <h3>{t("list")}</h3>
          <ul aria-label={t("list")}>
            {foundChats.map((chat) => (
              <li key={chat.id} className="found-chat">
                <ChatRow id={id} chat={chat} isChosen={isCalled(chat, chosen)} />
              </li>
            ))}
          </ul>
          <LoadMore query={chats} />
        </section>
      )}
      {foundMessages.length > 0 && (
        <section className="results">
          <h3>{t("thread.label")}</h3>
          <ul>
            {foundMessages.map((message) => (
              <li key={message.id}>
                <FoundMessage id={id} message={message} />
              </li>
            ))}
          </ul>
          <LoadMore query={messages} />
        </section>
      )}
    </div>
  );
}

/** Opens the chat at the message. */
function FoundMessage({ id, message }: { id: number; message: Message }) {
  const t = useTranslations("conversations");
  const client = useQueryClient();
  // The thread ends before this time.
  const at = new Date(Date.parse(message.timestamp) + 1).toISOString();
  const name = chatName(client, id, message);
  return (
    <Link
      to="/instances/$id/chats/$jid"
      params={{ id, jid: message.jid }}
      search={(now) => ({ ...now, at })}
      className="result-row"
      preload={false}
    >
      <span>
        <strong>{message.from_me ? t("toName", { name }) : nameOf(message.sender ?? message)}</strong>{" "}
        <RelativeTime at={message.timestamp} />
      </span>
      <span className="result-text">{summarise(message, t).slice(0, 240)}</span>
    </Link>
  );
}

/** The chat's name if a list has loaded it, otherwise its number. */
function chatName(client: QueryClient, id: number, { jid, phone }: Message): string {
  const lists = client.getQueriesData<{ pages: CursorPage<Chat>[] }>({ queryKey: chatsKey(id) });
  const shown = lists.flatMap(([, list]) => flatten(list?.pages));
  return titleOf(shown.find((chat) => chat.jid === jid) ?? { title: null, jid, phone });
}
