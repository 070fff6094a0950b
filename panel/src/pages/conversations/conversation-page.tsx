import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type DragEvent, lazy, Suspense, useCallback, useState } from "react";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../../packages/client/src/waygate-error.ts";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { formatPhone } from "../../components/formats.tsx";
import { EmptyState, LoadingState } from "../../components/page-header.tsx";
import { gateway, type InstanceState } from "../../gateway/gateway.ts";
import { instanceQuery, stateQuery } from "../../gateway/queries.ts";
import { useShortcuts } from "../../shell/shortcuts.tsx";
import type { ConversationSearch } from "./chats/conversation-search.ts";
import { Composer, type Target } from "./composer/composer.tsx";
import { putChat } from "./conversation-cache.ts";
import { type Chat, chatQuery, type Message } from "./conversation-queries.ts";
import type { Outgoing } from "./kinds/message-kind.ts";
import { useOutbox } from "./outbox.ts";
import { initialsOf, titleOf } from "./person-name.ts";
import { Thread } from "./thread/thread.tsx";

const Side = lazy(() => import("./side/side.tsx").then(({ Side }) => ({ default: Side })));

export function ConversationPage() {
  const { id, jid } = useParams({ from: "/shell/instances/$id/chats/$jid" });
  const { side, at = "" } = useSearch({ from: "/shell/instances/$id/chats/$jid" });
  const chat = useQuery(chatQuery(id, jid));
  const row = useQuery(instanceQuery(id));
  const state = useQuery(stateQuery(id));
  const error = chat.error ?? row.error ?? state.error;
  const isShown = chat.data !== undefined && row.data && state.data;
  if (error && !isShown) return <NoSuchChat error={error} onRetry={() => void chat.refetch()} />;
  if (chat.data === undefined || !row.data || !state.data) return <LoadingState />;
  const shown = chat.data ?? unwritten(id, jid);
  const isSandbox = row.data.network === "sandbox";
  return (
    <>
      {side && <CloseWithEscape />}
      <section className="conversation-main" data-beside={side ? "" : undefined} aria-label={titleOf(shown)}>
        <Head chat={shown} isSandbox={isSandbox} />
        <ChatPane
          key={`${shown.jid} ${at}`}
          chat={shown}
          until={at}
          isSandbox={isSandbox}
          state={state.data}
        />
      </section>
      {side && (
        <Suspense fallback={<LoadingState />}>
          <Side chat={shown} side={isSandbox ? side : "contact"} isConnected={state.data.connected} />
        </Suspense>
      )}
    </>
  );
}

/** The address is invalid, or the chat could not be loaded. */
function NoSuchChat({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const t = useTranslations("conversations");
  const isWrong = error instanceof WaygateError && (error.status === 400 || error.status === 404);
  return (
    <div className="conversation-main conversation-none">
      {isWrong ? (
        <EmptyState title={t("unknownTitle")} help={t("unknownHelp")} />
      ) : (
        <ErrorNotice error={error} onRetry={onRetry} />
      )}
    </div>
  );
}

function CloseWithEscape() {
  const { id, jid } = useParams({ from: "/shell/instances/$id/chats/$jid" });
  const navigate = useNavigate();
  const close = ({ target }: KeyboardEvent) => {
    // Escape would discard the text in the sidebar.
    if ((target as Element).matches("textarea") && (target as Element).closest(".conversation-side"))
      return false;
    const search = ({ side: _, ...now }: ConversationSearch) => now;
    return navigate({ to: "/instances/$id/chats/$jid", params: { id, jid }, search });
  };
  useShortcuts({ Escape: close });
  return null;
}

/** A chat without messages, which the gateway does not know yet. */
function unwritten(instance_id: number, address: string): Chat {
  const jid = address.includes("@") ? address : `${address}@s.whatsapp.net`;
  const phone = /^(\d{7,15})@s\.whatsapp\.net$/.exec(jid)?.[1] ?? null;
  const is_group = jid.endsWith("@g.us");
  const off = { marked_unread: false, archived: false, pinned: false, muted: false };
  const never = { lid: null, title: null, muted_until: null, last_message_at: null, last_message: null };
  return {
    id: 0,
    instance_id,
    jid,
    phone,
    type: is_group ? "group" : "contact",
    is_group,
    unread_count: 0,
    ...off,
    ...never,
  };
}

function Head({ chat, isSandbox }: { chat: Chat; isSandbox: boolean }) {
  const t = useTranslations("conversations");
  const { side, at: _, ...search } = useSearch({ from: "/shell/instances/$id/chats/$jid" });
  const params = { id: chat.instance_id, jid: chat.jid };
  const title = titleOf(chat);
  const toggle = (to: "contact" | "sandbox") => (
    <LinkButton
      to="/instances/$id/chats/$jid"
      params={params}
      search={(now) => ({ ...now, side: side === to ? undefined : to })}
      data-on={side === to ? "" : undefined}
    >
      {t(`side.${to}`)}
    </LinkButton>
  );
  return (
    <header className="conversation-head">
      <Link
        to="/instances/$id/chats"
        params={params}
        search={search}
        className="conversation-back"
        aria-label={t("back")}
      >
        <svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">
          <path
            d="M15 5l-7 7 7 7"
            fill="none"
            stroke="currentColor"
            strokeWidth="2.4"
            strokeLinecap="round"
          />
        </svg>
      </Link>
      <span className="avatar" aria-hidden="true" data-group={chat.is_group ? "" : undefined}>
        {initialsOf(title)}
      </span>
      <div className="conversation-title">
        <h2>{title}</h2>
        <p className="hint">{chat.is_group ? t("group") : chat.phone ? formatPhone(chat.phone) : chat.lid}</p>
      </div>
      <div className="conversation-tools">
        {toggle("contact")}
        {isSandbox && toggle("sandbox")}
      </div>
    </header>
  );
}

interface ChatPaneProps {
  chat: Chat;
  /** Shows the messages before this time; empty shows the newest. */
  until: string;
  isSandbox: boolean;
  state: InstanceState;
}

function ChatPane({ chat, until, isSandbox, state }: ChatPaneProps) {
  const { instance_id: id, jid } = chat;
  const outbox = useOutbox(id, jid);
  const read = useMarkRead(chat);
  const [target, setTarget] = useState<Target>();
  const [files, setFiles] = useState<readonly File[]>([]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setFiles([...event.dataTransfer.files]);
  };
  const send = (message: Outgoing) => {
    outbox.add(message, target?.kind === "reply" ? target.message : undefined);
    setTarget(undefined);
    // A reply marks the chat as read.
    if (chat.unread_count > 0 || chat.marked_unread) read.mutate();
  };
  const reply = useCallback((message: Message) => setTarget({ kind: "reply", message }), []);
  const edit = useCallback((message: Message) => setTarget({ kind: "edit", message }), []);
  const actions = {
    instanceId: id,
    ownJid: state.jid,
    isSandbox,
    onReply: reply,
    onEdit: edit,
    onResend: outbox.add,
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a file can also be chosen with a button
    <div className="conversation-body" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <Thread chat={chat} until={until} outbox={outbox} actions={actions} />
      <UnreadBar chat={chat} read={read} />
      <Composer
        chat={chat}
        state={state}
        target={target}
        onTarget={setTarget}
        files={files}
        onFiles={setFiles}
        onSend={send}
      />
    </div>
  );
}

function useMarkRead({ instance_id: id, jid }: Chat) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => (await gateway.setChatState({ id, jid, action: "read" })).data,
    onSuccess: (chat) => putChat(client, id, chat),
  });
}

/** Marking as read sends receipts, so the user decides it. */
function UnreadBar({ chat, read }: { chat: Chat; read: ReturnType<typeof useMarkRead> }) {
  const t = useTranslations("conversations.unread");
  if (chat.unread_count === 0 && !chat.marked_unread) return null;
  return (
    <div className="unread-bar">
      <ErrorNotice error={read.error} />
      <p>{t("bar", { count: chat.unread_count })}</p>
      <ActionButton isPending={read.isPending} onPress={() => read.mutate()}>
        {t("markRead")}
      </ActionButton>
    </div>
  );
}
