import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { useFormatter, useTranslations } from "use-intl";
import type { Chat } from "./conversation-queries.ts";
import { summarise } from "./kinds/kinds.ts";
import { MessageStatus } from "./message-status.tsx";
import { initialsOf, nameOf, titleOf } from "./person-name.ts";

interface ChatRowProps {
  id: number;
  chat: Chat;
  isChosen: boolean;
}

export const ChatRow = memo(function ChatRow({ id, chat, isChosen }: ChatRowProps) {
  const title = titleOf(chat);
  return (
    <Link
      to="/instances/$id/chats/$jid"
      params={{ id, jid: chat.jid }}
      search={({ at: _, ...now }) => now}
      className="chat-row"
      aria-current={isChosen ? "page" : undefined}
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
    <span className="chat-marks">
      {chat.muted && <span>{t("muted")}</span>}
      {chat.pinned && <span>{t("pinned")}</span>}
      {chat.archived && <span>{t("archived")}</span>}
      {(count > 0 || chat.marked_unread) && (
        <span className="unread-count">
          <span aria-hidden="true">{count >= 999 ? "999+" : count || "•"}</span>
          <span className="unseen">{t("unread", { count })}</span>
        </span>
      )}
    </span>
  );
}

const RECENT_MS = 300 * 86_400_000;
const HOUR = { hour: "2-digit", minute: "2-digit" } as const;
const DAY = { day: "numeric", month: "short" } as const;

/** The time of today, else the day. */
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
