import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { Blank } from "../../components/blank.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { type Message, messageSearchQuery } from "./conversation-queries.ts";
import { flatten } from "./cursor-pages.ts";
import { summarise } from "./kinds/kinds.ts";
import { nameOf } from "./person-name.ts";

/** Messages that contain the words, newest first; each leads to its place in its chat. */
export function MessageResults({ id, q }: { id: number; q: string }) {
  const t = useTranslations("conversations");
  const query = useInfiniteQuery(messageSearchQuery(id, q));
  const found = flatten(query.data?.pages);
  if (query.error) return <FaultNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingState />;
  if (found.length === 0) return <Blank title={t("nothingTitle")} help={t("nothingHelp")} />;
  return (
    <div className="chat-scroll">
      <ul aria-label={t("filter.messages")}>
        {found.map((message) => (
          <li key={message.id}>
            <Result id={id} message={message} />
          </li>
        ))}
      </ul>
      <LoadMore query={query} />
    </div>
  );
}

function Result({ id, message }: { id: number; message: Message }) {
  const t = useTranslations("conversations");
  // The list of a chat ends before this time.
  const at = new Date(Date.parse(message.timestamp) + 1).toISOString();
  const writer = message.from_me ? t("thread.you") : nameOf(message.sender ?? message);
  return (
    <Link
      to="/instances/$id/chats/$jid"
      params={{ id, jid: message.jid }}
      search={(now) => ({ ...now, at })}
      className="result-row"
      preload={false}
    >
      <span>
        <strong>{writer}</strong> <RelativeTime at={message.timestamp} />
      </span>
      <span className="result-text">{summarise(message, t).slice(0, 240)}</span>
    </Link>
  );
}
