import { Link, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { type Chat, consentQuery, contactQuery } from "../conversation-queries.ts";
import { LeadSide } from "./lead-side.tsx";
import { SandboxSide } from "./sandbox-side.tsx";
import "./side.css";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ActionButton } from "../../../components/action-button.tsx";
import { DescriptionList } from "../../../components/description-list.tsx";
import { ConfirmDialog } from "../../../components/dialogs/confirm-dialog.tsx";
import { FormDialog } from "../../../components/dialogs/form-dialog.tsx";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { CheckField } from "../../../components/fields/check-field.tsx";
import { FormField } from "../../../components/fields/form-field.tsx";
import { formatPhone, RelativeTime } from "../../../components/formats.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { putChat } from "../conversation-cache.ts";
import { titleOf } from "../person-name.ts";

interface SideProps {
  chat: Chat;
  side: "contact" | "sandbox";
  isConnected: boolean;
}

/** Details of the contact, or the controls of the sandbox. */
export function Side({ chat, side, isConnected }: SideProps) {
  const t = useTranslations("conversations");
  const { side: _, ...search } = useSearch({ from: "/shell/instances/$id/chats/$jid" });
  const params = { id: chat.instance_id, jid: chat.jid };
  return (
    <section className="conversation-side" aria-label={t(`side.${side}`)}>
      <div className="conversation-side-head">
        <h2>{t(`side.${side}`)}</h2>
        <Link
          to="/instances/$id/chats/$jid"
          params={params}
          search={search}
          className="button"
          data-kind="link"
        >
          {t("side.close")}
        </Link>
      </div>
      {side === "sandbox" ? (
        <SandboxSide chat={chat} isConnected={isConnected} />
      ) : (
        <>
          <ContactFacts chat={chat} isConnected={isConnected} />
          <ChatActions chat={chat} />
          {chat.phone !== null && <LeadSide chat={chat} phone={chat.phone} />}
          {chat.phone !== null && <ConsentRecords phone={chat.phone} />}
        </>
      )}
    </section>
  );
}

function ContactFacts({ chat, isConnected }: { chat: Chat; isConnected: boolean }) {
  const t = useTranslations("conversations.contact");
  const isAsked = isConnected && !chat.is_group;
  const { data } = useQuery({ ...contactQuery(chat.instance_id, chat.jid), enabled: isAsked });
  const facts = [
    { name: t("name"), value: data?.name ?? titleOf(chat) },
    { name: t("number"), value: chat.phone === null ? t("hidden") : formatPhone(chat.phone) },
    { name: "LID", value: chat.lid && <span className="code">{chat.lid}</span> },
    { name: t("pushName"), value: data?.push_name },
    { name: t("verifiedName"), value: data?.verified_name },
    { name: t("about"), value: data?.about },
    { name: t("blocked"), value: data?.is_blocked ? t("isBlocked") : null },
  ];
  return (
    <div className="side-part">
      {data?.picture_url?.startsWith(location.origin) && (
        <img className="contact-picture" src={data.picture_url} alt={t("picture")} />
      )}
      <DescriptionList items={facts.filter(({ value }) => value)} />
    </div>
  );
}

/** Consent records are append-only; a withdrawal is a new record. */
function ConsentRecords({ phone }: { phone: string }) {
  const t = useTranslations("conversations.consent");
  const { data = [], error, refetch } = useQuery(consentQuery(phone));
  return (
    <section className="side-part" aria-label={t("title")}>
      <h3>{t("title")}</h3>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data.length === 0 && !error && <p className="hint">{t("none")}</p>}
      <ul className="notes">
        {data.map(({ consentId, purpose, granted, current, channel, created_at }) => (
          <li key={consentId} data-old={current ? undefined : ""}>
            <p>
              <strong>{purpose}</strong>: {t(granted ? "granted" : "withdrawn")}
              {!current && ` (${t("outdated")})`}
            </p>
            <p className="hint">
              {channel && `${channel} · `}
              <RelativeTime at={created_at} />
            </p>
          </li>
        ))}
      </ul>
      <RecordConsent phone={phone} />
    </section>
  );
}

function RecordConsent({ phone }: { phone: string }) {
  const t = useTranslations("conversations.consent");
  const client = useQueryClient();
  const [granted, setGranted] = useState(true);
  const record = useMutation({
    mutationFn: (input: Parameters<typeof gateway.recordConsent>[0]) => gateway.recordConsent(input),
    onSuccess: () => client.invalidateQueries({ queryKey: consentQuery(phone).queryKey }),
  });
  const submit = ({ purpose = "", channel = "" }: Partial<Record<string, string>>) =>
    record.mutateAsync({
      phone: `+${phone}`,
      purpose,
      consent_type: granted ? "opt_in" : "opt_out",
      granted,
      ...(channel && { channel }),
    });
  return (
    <div className="buttons">
      <FormDialog
        label={t("record")}
        title={t("recordTitle")}
        submitLabel={t("save")}
        onSubmit={submit}
        mutation={record}
      >
        <FormField name="purpose" label={t("purpose")} hint={t("purposeHint")} maxLength={64} />
        <FormField name="channel" label={t("channel")} hint={t("channelHint")} maxLength={64} isOptional />
        <CheckField
          label={t("isGranted")}
          hint={t("isGrantedHint")}
          isSelected={granted}
          onChange={setGranted}
        />
      </FormDialog>
    </div>
  );
}

type Action = "archive" | "unarchive" | "mute" | "unmute" | "pin" | "unpin" | "read" | "unread";

/** Actions on the whole chat, which also apply on the phone. */
function ChatActions({ chat }: { chat: Chat }) {
  const t = useTranslations("conversations.chat");
  const client = useQueryClient();
  const { instance_id: id, jid } = chat;
  const change = useMutation({
    mutationFn: async (action: Action) => (await gateway.setChatState({ id, jid, action })).data,
    onSuccess: (changed, action) => {
      putChat(client, id, changed);
      void client.invalidateQueries({ queryKey: ["conversations", id, "chats"] });
      showToast(t(`done.${action}`));
    },
  });
  const isUnread = chat.unread_count > 0 || chat.marked_unread;
  const actions: Action[] = [
    chat.pinned ? "unpin" : "pin",
    chat.archived ? "unarchive" : "archive",
    chat.muted ? "unmute" : "mute",
    isUnread ? "read" : "unread",
  ];
  if (chat.id === 0) return null;
  return (
    <section className="side-part" aria-label={t("title")}>
      <h3>{t("title")}</h3>
      <p className="hint">{t("help")}</p>
      <ErrorNotice error={change.error} />
      <div className="buttons">
        {actions.map((action) => (
          <ActionButton
            key={action}
            isPending={change.isPending && change.variables === action}
            onPress={() => change.mutate(action)}
          >
            {t(action)}
          </ActionButton>
        ))}
        {!chat.is_group && <BlockButton chat={chat} />}
      </div>
    </section>
  );
}

function BlockButton({ chat }: { chat: Chat }) {
  const t = useTranslations("conversations.chat");
  const client = useQueryClient();
  const { instance_id: id, jid } = chat;
  const contact = contactQuery(id, jid);
  const { data } = useQuery({ ...contact, enabled: false });
  const isBlocked = data?.is_blocked === true;
  const block = useMutation({
    mutationFn: () => gateway.blockContact({ id, jid, action: isBlocked ? "unblock" : "block" }),
    onSuccess: () => {
      showToast(t(isBlocked ? "done.unblock" : "done.block"));
      return client.invalidateQueries({ queryKey: contact.queryKey });
    },
  });
  return (
    <>
      <ErrorNotice error={block.error} />
      {isBlocked ? (
        <ActionButton isPending={block.isPending} onPress={() => block.mutate()}>
          {t("unblock")}
        </ActionButton>
      ) : (
        <ConfirmDialog
          label={t("block")}
          title={t("blockTitle", { name: titleOf(chat) })}
          consequence={t("blockHelp")}
          confirmLabel={t("blockConfirm")}
          onConfirm={() => block.mutate()}
        />
      )}
    </>
  );
}
