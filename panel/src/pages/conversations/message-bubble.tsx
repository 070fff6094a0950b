import { useFormatter, useTranslations } from "use-intl";
import type { Message } from "./conversation-queries.ts";
import { stripFormatting } from "./formatting/strip-formatting.ts";
import { kindOf, summarise } from "./kinds/kinds.ts";
import { type ActionDeps, MessageActions } from "./message-actions.tsx";
import { MessageFault } from "./message-fault.tsx";
import { MessageStatus } from "./message-status.tsx";
import { nameOf } from "./person-name.ts";
import { ReactionList } from "./reaction-list.tsx";
import "./message.css";

interface BubbleProps extends ActionDeps {
  message: Message;
  /** Whether the name of the writer stands above, in a group. */
  isNamed: boolean;
}

/** A message with all that has happened to it. */
export function MessageBubble({ message, isNamed, ...deps }: BubbleProps) {
  const t = useTranslations("conversations.thread");
  const { Body } = kindOf(message);
  const isDeleted = message.deleted_at !== null;
  return (
    <article className="bubble" data-own={message.from_me ? "" : undefined} aria-label={useLabel(message)}>
      {isNamed && message.sender && <p className="bubble-writer">{nameOf(message.sender)}</p>}
      {message.is_forwarded && <p className="bubble-note">{t("forwarded")}</p>}
      {!isDeleted && <Quote message={message} />}
      {isDeleted ? (
        <p className="bubble-note">{t("deleted")}</p>
      ) : (
        <Body instanceId={deps.instanceId} message={message} />
      )}
      <footer>
        {message.edited_at !== null && !isDeleted && <span>{t("edited")}</span>}
        <Clock at={message.timestamp} />
        {message.from_me && <MessageStatus status={message.status} />}
        <MessageActions message={message} {...deps} />
      </footer>
      {(message.status === "failed" || message.status === "cancelled") && (
        <MessageFault message={message} onResend={deps.onResend} instanceId={deps.instanceId} />
      )}
      <ReactionList reactions={message.reactions} ownJid={deps.ownJid} />
    </article>
  );
}

/** What a screen reader says before the content. */
function useLabel(message: Message): string {
  const t = useTranslations("conversations.thread");
  if (message.from_me) return t("fromYou");
  return t("from", { name: message.sender ? nameOf(message.sender) : nameOf(message) });
}

function Quote({ message: { quoted } }: { message: Message }) {
  const t = useTranslations("conversations");
  if (quoted === null) return null;
  const kind = quoted.content?.media_type ?? quoted.content?.kind;
  const words = quoted.text ?? quoted.content?.file_name ?? quoted.content?.name;
  const shown = quoted.text ? stripFormatting(quoted.text) : words;
  return (
    <blockquote className="quote">
      <strong>{quoted.from_me ? t("thread.you") : t("thread.quoted")}</strong>
      <p>{shown ?? (kind ? summarise({ ...EMPTY, type: kind }, t) : "…")}</p>
    </blockquote>
  );
}

/** Of a quoted message the network repeats its kind alone. */
const EMPTY = {
  deleted_at: null,
  text: null,
  caption: null,
  media: null,
  location: null,
  contacts: null,
  group_invite: null,
} as unknown as Message;

function Clock({ at }: { at: string }) {
  const format = useFormatter();
  const date = new Date(at);
  return (
    <time dateTime={at} title={format.dateTime(date, { dateStyle: "full", timeStyle: "long" })}>
      {format.dateTime(date, { hour: "2-digit", minute: "2-digit" })}
    </time>
  );
}
