import { useFormatter, useTranslations } from "use-intl";
import { type Message, messageErrorQuery } from "../conversation-queries.ts";
import { stripFormatting } from "../formatting/strip-formatting.ts";
import { kindOf, summarise } from "../kinds/kinds.tsx";
import { MessageStatus } from "../message-status.tsx";
import { isSamePerson, nameOf } from "../person-name.ts";
import { type ActionDeps, MessageActions } from "./message-actions.tsx";
import "./message.css";
import { useMutation, useQuery } from "@tanstack/react-query";
import { ActionButton } from "../../../components/action-button.tsx";
import { useErrorText } from "../../../components/error-notice.tsx";
import { useGatewayTexts } from "../../../components/use-gateway-texts.ts";
import type { Outgoing } from "../kinds/message-kind.ts";

interface BubbleProps extends ActionDeps {
  message: Message;
  /** Whether the sender's name is shown, in a group. */
  isNamed: boolean;
  isTabStop: boolean;
}

export function MessageBubble({ message, isNamed, isTabStop, ...deps }: BubbleProps) {
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
        <MessageActions message={message} isTabStop={isTabStop} {...deps} />
      </footer>
      {(message.status === "failed" || message.status === "cancelled") && (
        <MessageError message={message} onResend={deps.onResend} instanceId={deps.instanceId} />
      )}
      <ReactionList reactions={message.reactions} ownJid={deps.ownJid} />
    </article>
  );
}

/** Read by a screen reader before the content. */
function useLabel(message: Message): string {
  const t = useTranslations("conversations.thread");
  if (message.from_me) return t("fromYou");
  return t("from", { name: message.sender ? nameOf(message.sender) : nameOf(message) });
}

function Quote({ message: { quoted } }: { message: Message }) {
  const t = useTranslations("conversations");
  if (quoted === null) return null;
  const kind = quoted.content?.media_type ?? quoted.content?.kind;
  const label = quoted.text ?? quoted.content?.file_name ?? quoted.content?.name;
  const shown = quoted.text ? stripFormatting(quoted.text) : label;
  return (
    <blockquote className="quote">
      <strong>{quoted.from_me ? t("thread.you") : t("thread.quoted")}</strong>
      <p>{shown ?? (kind ? summarise({ ...EMPTY, type: kind }, t) : "…")}</p>
    </blockquote>
  );
}

/** A quote carries only the kind of the message. */
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
      {format.dateTime(date, { timeStyle: "short" })}
    </time>
  );
}

interface ReactionListProps {
  reactions: Message["reactions"];
  ownJid: string | null;
}

/** Reactions grouped by emoji. */
function ReactionList({ reactions, ownJid }: ReactionListProps) {
  const t = useTranslations("conversations.thread");
  if (reactions.length === 0) return null;
  const emojis = [...new Set(reactions.map(({ reaction }) => reaction))];
  return (
    <ul className="reactions" aria-label={t("reactions")}>
      {emojis.map((emoji) => {
        const all = reactions.filter(({ reaction }) => reaction === emoji);
        const names = all.map(({ sender }) => (isSamePerson(sender, ownJid) ? t("you") : nameOf(sender)));
        return (
          <li key={emoji} title={names.join(", ")}>
            <span aria-hidden="true">
              {emoji} {all.length > 1 && all.length}
            </span>
            <span className="visually-hidden">{`${emoji}: ${names.slice(0, 10).join(", ")}`}</span>
          </li>
        );
      })}
    </ul>
  );
}

interface MessageErrorProps {
  message: Message;
  instanceId: number;
  onResend(message: Outgoing): void;
}

function MessageError({ message, instanceId, onResend }: MessageErrorProps) {
  const t = useTranslations("conversations");
  const textOf = useErrorText();
  const texts = useGatewayTexts();
  const { data } = useQuery(messageErrorQuery(instanceId, message.message_id));
  const { resend } = kindOf(message);
  const again = useMutation({
    mutationFn: async () => {
      const shown = message.text ?? summarise(message, t);
      if (resend) onResend({ shown, post: await resend(message, instanceId) });
    },
  });
  return (
    <div className="message-error">
      <p>{data ? texts.failure(data).sentence : t(`status.${message.status}`)}</p>
      {again.error && <p className="field-error">{textOf(again.error)}</p>}
      {resend && (
        <ActionButton isPending={again.isPending} onPress={() => again.mutate()}>
          {t("thread.sendAgain")}
        </ActionButton>
      )}
    </div>
  );
}
