import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog, DialogTrigger, Popover } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { LoadingState } from "../../../components/page-header.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { type Message, receiptsQuery } from "../conversation-queries.ts";
import { summarise } from "../kinds/kinds.tsx";
import type { Outgoing } from "../kinds/message-kind.ts";
import { isSamePerson, nameOf } from "../person-name.ts";
import { reloadMessage } from "../use-live-conversations.ts";

export interface ActionDeps {
  instanceId: number;
  /** The instance's own address. */
  ownJid: string | null;
  isSandbox: boolean;
  onReply(message: Message): void;
  onEdit(message: Message): void;
  onResend(message: Outgoing): void;
}

const EMOJI = ["👍", "❤️", "😂", "😮", "😢", "🙏"];
/** WhatsApp rejects later edits. */
const EDITABLE_MS = 15 * 60_000;

export function MessageActions({
  message,
  isTabStop,
  ...deps
}: ActionDeps & { message: Message; isTabStop: boolean }) {
  const t = useTranslations("conversations");
  return (
    <DialogTrigger>
      <ActionButton
        kind="link"
        excludeFromTabOrder={!isTabStop}
        aria-label={t("actions.open", { message: summarise(message, t).slice(0, 80) })}
      >
        <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="currentColor">
          <circle cx="3.5" cy="9" r="1.6" />
          <circle cx="9" cy="9" r="1.6" />
          <circle cx="14.5" cy="9" r="1.6" />
        </svg>
      </ActionButton>
      <Popover className="actions-popover" placement="bottom end">
        <Dialog aria-label={t("actions.title")}>
          {({ close }) => <ActionList message={message} close={close} {...deps} />}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

type ListProps = ActionDeps & { message: Message; close(): void };

const NOT_SENT: ReadonlySet<Message["status"]> = new Set(["scheduled", "pending", "failed", "cancelled"]);

function ActionList({ message, close, ...deps }: ListProps) {
  const t = useTranslations("conversations.actions");
  const text = message.text ?? message.caption;
  const isDeleted = message.deleted_at !== null;
  const isSent = !NOT_SENT.has(message.status);
  const isEditable =
    message.from_me && text !== null && Date.now() - Date.parse(message.timestamp) < EDITABLE_MS;
  const copy = text !== null && navigator.clipboard !== undefined;
  return (
    <div className="action-list">
      {!isDeleted && isSent && <Reactions message={message} close={close} {...deps} />}
      {!isDeleted && isSent && (
        <ActionButton onPress={() => [close(), deps.onReply(message)]}>{t("reply")}</ActionButton>
      )}
      {copy && !isDeleted && (
        <ActionButton onPress={() => void navigator.clipboard.writeText(text).then(close)}>
          {t("copy")}
        </ActionButton>
      )}
      {!isDeleted && isSent && isEditable && (
        <ActionButton onPress={() => [close(), deps.onEdit(message)]}>{t("edit")}</ActionButton>
      )}
      {!isDeleted && isSent && message.from_me && <DeleteButton message={message} close={close} {...deps} />}
      {message.from_me && message.is_group && (
        <MessageReceipts instanceId={deps.instanceId} message={message} />
      )}
      {deps.isSandbox && isSent && <SandboxMessageActions message={message} close={close} {...deps} />}
      <p className="hint code">{message.message_id}</p>
    </div>
  );
}

function Reactions({ message, close, instanceId: id, ownJid }: ListProps) {
  const t = useTranslations("conversations.actions");
  const client = useQueryClient();
  const own = message.reactions.find(({ sender }) => isSamePerson(sender, ownJid))?.reaction;
  const react = useMutation({
    mutationFn: (reaction: string) =>
      gateway.react({ id, jid: message.jid, message_id: message.message_id, reaction }),
    onSuccess: async () => {
      close();
      await reloadMessage(client, id, message.message_id);
    },
  });
  return (
    <>
      <ErrorNotice error={react.error} />
      <fieldset className="emoji-row" aria-label={t("react")}>
        {EMOJI.map((emoji) => (
          <ActionButton
            key={emoji}
            aria-label={t(own === emoji ? "unreact" : "reactWith", { emoji })}
            aria-pressed={own === emoji}
            kind={own === emoji ? "primary" : "link"}
            isPending={react.isPending}
            onPress={() => react.mutate(own === emoji ? "" : emoji)}
          >
            {emoji}
          </ActionButton>
        ))}
      </fieldset>
    </>
  );
}

function DeleteButton({ message, close, instanceId: id }: ListProps) {
  const t = useTranslations("conversations.actions");
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => gateway.deleteMessage({ id, jid: message.jid, message_id: message.message_id }),
    onSuccess: async () => {
      close();
      await reloadMessage(client, id, message.message_id);
    },
  });
  if (!isAsking) return <ActionButton onPress={() => setAsking(true)}>{t("delete")}</ActionButton>;
  return (
    <>
      <p>{t("deleteHelp")}</p>
      <ErrorNotice error={remove.error} />
      <ActionButton kind="danger" isPending={remove.isPending} onPress={() => remove.mutate()}>
        {t("deleteConfirm")}
      </ActionButton>
    </>
  );
}

/** Delivery and read receipts by group member. */
function MessageReceipts({ instanceId, message }: { instanceId: number; message: Message }) {
  const t = useTranslations("conversations");
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useQuery({ ...receiptsQuery(instanceId, message.message_id), enabled: isOpen });
  if (!isOpen) return <ActionButton onPress={() => setOpen(true)}>{t("actions.receipts")}</ActionButton>;
  if (error) return <ErrorNotice error={error} />;
  if (!data) return <LoadingState />;
  return (
    <div className="stack">
      <p>{t("actions.receiptCount", { delivered: data.delivered, read: data.read })}</p>
      <ul>
        {data.receipts.slice(0, 100).map(({ jid, phone, status }) => (
          <li key={jid}>
            {nameOf({ jid, phone })}: {t(`status.${status}`)}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface SandboxMessageActionsProps {
  instanceId: number;
  message: Message;
  close(): void;
}

/** Sandbox only: actions of the contact on the message. */
function SandboxMessageActions({ instanceId: id, message, close }: SandboxMessageActionsProps) {
  const t = useTranslations("conversations.sandbox");
  const [text, setText] = useState<string>();
  const from = message.sender?.phone ?? message.phone;
  const act = useMutation({ mutationFn: (run: () => Promise<unknown>) => run(), onSuccess: close });
  if (from === null) return null;
  const { message_id } = message;
  const actor = { id, from, ...(message.is_group && { group_jid: message.jid }), message_id };
  const press = (run: () => Promise<unknown>) => () => act.mutate(run);
  return (
    <fieldset className="action-list">
      <legend className="hint">{t("asContact")}</legend>
      <ErrorNotice error={act.error} />
      <ActionButton onPress={press(() => gateway.sandboxReact({ ...actor, reaction: "🎉" }))}>
        {t("react")}
      </ActionButton>
      {message.from_me ? (
        <ActionButton onPress={press(() => gateway.sandboxRead(actor))}>{t("read")}</ActionButton>
      ) : (
        <>
          {message.type === "text" && text === undefined && (
            <ActionButton onPress={() => setText(message.text ?? "")}>{t("edit")}</ActionButton>
          )}
          {text !== undefined && (
            <div className="field">
              <input
                aria-label={t("newText")}
                value={text}
                maxLength={65_536}
                onChange={(event) => setText(event.target.value)}
              />
              <ActionButton onPress={press(() => gateway.sandboxEdit({ ...actor, text }))}>
                {t("saveEdit")}
              </ActionButton>
            </div>
          )}
          <ActionButton onPress={press(() => gateway.sandboxDelete(actor))}>{t("delete")}</ActionButton>
        </>
      )}
    </fieldset>
  );
}
