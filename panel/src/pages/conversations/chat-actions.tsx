import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { showToast } from "../../components/toasts.tsx";
import { putChat } from "./conversation-cache.ts";
import { type Chat, contactQuery } from "./conversation-queries.ts";
import { titleOf } from "./person-name.ts";

type Action = "archive" | "unarchive" | "mute" | "unmute" | "pin" | "unpin" | "read" | "unread";

/** What can be done with the whole chat, here and on the phone. */
export function ChatActions({ chat }: { chat: Chat }) {
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
      <FaultNotice error={change.error} />
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
      <FaultNotice error={block.error} />
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
