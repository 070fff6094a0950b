import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import type { Message } from "./conversation-queries.ts";

interface SandboxMessageActionsProps {
  instanceId: number;
  message: Message;
  close(): void;
}

/** Of a sandbox: lets the contact do something with the message. */
export function SandboxMessageActions({ instanceId: id, message, close }: SandboxMessageActionsProps) {
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
      <FaultNotice error={act.error} />
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
