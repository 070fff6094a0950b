import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { ConfirmDialog } from "../../../components/dialogs/confirm-dialog.tsx";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { CheckField } from "../../../components/fields/check-field.tsx";
import { LONGEST_PHONE_TEXT } from "../../../components/fields/form-field.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import type { Chat } from "../conversation-queries.ts";

/** Simulates the network and the contact in the sandbox. */
export function SandboxSide({ chat, isConnected }: { chat: Chat; isConnected: boolean }) {
  const t = useTranslations("conversations.sandbox");
  const { instance_id: id } = chat;
  const act = useMutation({
    mutationFn: ({ run }: { run: () => Promise<unknown>; done: string }) => run(),
    onSuccess: (_, { done }) => showToast(done),
  });
  const press = (run: () => Promise<unknown>, done: string) => () => act.mutate({ run, done });
  return (
    <>
      <p className="hint">{t("lead")}</p>
      {!isConnected && <p className="hint">{t("notConnected")}</p>}
      <ErrorNotice error={act.error} />
      <WriteAsContact chat={chat} />
      <section className="side-part" aria-label={t("network")}>
        <h3>{t("network")}</h3>
        {chat.phone !== null && <CallButtons id={id} from={chat.phone} press={press} />}
        <p className="hint">{t("dropHelp")}</p>
        <div className="buttons">
          <ActionButton onPress={press(() => gateway.sandboxDrop({ id }), t("dropped"))}>
            {t("drop")}
          </ActionButton>
          <ConfirmDialog
            label={t("ban")}
            title={t("banTitle")}
            consequence={t("banHelp")}
            confirmLabel={t("banConfirm")}
            onConfirm={press(() => gateway.sandboxBan({ id }), t("banned"))}
          />
        </div>
      </section>
    </>
  );
}

interface CallButtonsProps {
  id: number;
  from: string;
  press(run: () => Promise<unknown>, done: string): () => void;
}

function CallButtons({ id, from, press }: CallButtonsProps) {
  const t = useTranslations("conversations.sandbox");
  const [video, setVideo] = useState(false);
  return (
    <>
      <CheckField label={t("video")} isSelected={video} onChange={setVideo} />
      <div className="buttons">
        <ActionButton onPress={press(() => gateway.sandboxCall({ id, from, video }), t("called"))}>
          {t("call")}
        </ActionButton>
      </div>
    </>
  );
}

/** In a group, a member with this number writes. */
function WriteAsContact({ chat }: { chat: Chat }) {
  const t = useTranslations("conversations.sandbox");
  const { instance_id: id, jid, is_group } = chat;
  const [text, setText] = useState("");
  const [from, setFrom] = useState(chat.phone ?? "");
  const receive = useMutation({
    mutationFn: () => gateway.sandboxReceive({ id, from, text, ...(is_group && { group_jid: jid }) }),
    onSuccess: () => setText(""),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") receive.mutate();
  };
  return (
    <form className="side-part field" onSubmit={submit}>
      <h3>{t("write")}</h3>
      <ErrorNotice error={receive.error} />
      {chat.phone === null && (
        <input
          type="tel"
          aria-label={t("from")}
          placeholder={t("from")}
          value={from}
          maxLength={LONGEST_PHONE_TEXT}
          onChange={(event) => setFrom(event.target.value)}
        />
      )}
      <textarea
        rows={2}
        aria-label={t("text")}
        placeholder={t("text")}
        value={text}
        maxLength={65_536}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="buttons">
        <ActionButton type="submit" isPending={receive.isPending}>
          {t("submit")}
        </ActionButton>
      </div>
    </form>
  );
}
