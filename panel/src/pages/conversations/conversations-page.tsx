import { Outlet, useParams, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ChatFilters } from "./chat-filters.tsx";
import { ChatList } from "./chat-list.tsx";
import "./conversations.css";
import { MessageResults } from "./message-results.tsx";
import { NewChat } from "./new-chat.tsx";
import { useLiveConversations } from "./use-live-conversations.ts";

/** The chats of an instance, with the chosen one beside them. On a phone one of both is shown. */
export function ConversationsPage() {
  const t = useTranslations("conversations");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const { jid } = useParams({ strict: false });
  const { q = "", show = "all", in: where } = useSearch({ from: "/shell/instances/$id/chats" });
  useLiveConversations(id);
  return (
    <div className="talk" data-open={jid === undefined ? undefined : ""}>
      <section className="talk-list" aria-label={t("title")}>
        <div className="talk-list-head">
          <h2>{t("title")}</h2>
          <NewChat id={id} />
        </div>
        <ChatFilters />
        {where === "messages" && q !== "" ? (
          <MessageResults id={id} q={q} />
        ) : (
          <ChatList key={`${show} ${q}`} id={id} filter={show} q={q} chosen={jid} />
        )}
      </section>
      <Outlet />
    </div>
  );
}
