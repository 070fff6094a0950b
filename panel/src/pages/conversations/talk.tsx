import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type DragEvent, useCallback, useState } from "react";
import { useTranslations } from "use-intl";
import { gateway, type InstanceState } from "../../api/gateway.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { Composer, type Target } from "./composer.tsx";
import { putChat } from "./conversation-cache.ts";
import type { Chat, Message } from "./conversation-queries.ts";
import type { Outgoing } from "./kinds/message-kind.ts";
import { useOutbox } from "./outbox.ts";
import { Thread } from "./thread.tsx";

interface TalkProps {
  chat: Chat;
  /** Shows the messages before this time; empty: up to the newest. */
  until: string;
  isSandbox: boolean;
  state: InstanceState;
}

/** The thread with the field below it. */
export function Talk({ chat, until, isSandbox, state }: TalkProps) {
  const { instance_id: id, jid } = chat;
  const outbox = useOutbox(id, jid);
  const read = useMarkRead(chat);
  const [target, setTarget] = useState<Target>();
  const [file, setFile] = useState<File>();
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setFile([...event.dataTransfer.files][0]);
  };
  const send = (message: Outgoing) => {
    outbox.add(message, target?.kind === "reply" ? target.message : undefined);
    setTarget(undefined);
    // Who replies has read.
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
    <div className="talk-body" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <Thread chat={chat} until={until} outbox={outbox} actions={actions} />
      <UnreadBar chat={chat} read={read} />
      <Composer
        chat={chat}
        state={state}
        target={target}
        onTarget={setTarget}
        file={file}
        onFile={setFile}
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

/** Reading tells the contact so, hence it is a decision and no side effect of looking. */
function UnreadBar({ chat, read }: { chat: Chat; read: ReturnType<typeof useMarkRead> }) {
  const t = useTranslations("conversations.unread");
  if (chat.unread_count === 0 && !chat.marked_unread) return null;
  return (
    <div className="unread-bar">
      <FaultNotice error={read.error} />
      <p>{t("bar", { count: chat.unread_count })}</p>
      <ActionButton isPending={read.isPending} onPress={() => read.mutate()}>
        {t("markRead")}
      </ActionButton>
    </div>
  );
}
