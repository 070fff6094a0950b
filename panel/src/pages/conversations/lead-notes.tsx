import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { leadQuery } from "./conversation-queries.ts";
import type { LeadDetails } from "./lead-side.tsx";

/** Notes of the team about the lead, which the contact never sees. */
export function LeadNotes({ lead, phone }: { lead: LeadDetails; phone: string }) {
  const t = useTranslations("conversations.notes");
  const client = useQueryClient();
  const [text, setText] = useState("");
  const refresh = () => client.invalidateQueries({ queryKey: leadQuery(phone).queryKey });
  const add = useMutation({
    mutationFn: (note: string) => gateway.addLeadNote({ id: lead.id, note }),
    onSuccess: () => [setText(""), refresh()],
  });
  const remove = useMutation({
    mutationFn: (noteId: number) => gateway.deleteLeadNote({ id: lead.id, noteId }),
    onSettled: refresh,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") add.mutate(text.trim());
  };
  return (
    <section aria-label={t("title")} className="stack">
      <h3>{t("title")}</h3>
      <FaultNotice error={add.error ?? remove.error} />
      <form className="field" onSubmit={submit}>
        <textarea
          rows={2}
          aria-label={t("new")}
          placeholder={t("new")}
          value={text}
          maxLength={10_000}
          onChange={(event) => setText(event.target.value)}
        />
        <div className="buttons">
          <ActionButton type="submit" isPending={add.isPending}>
            {t("add")}
          </ActionButton>
        </div>
      </form>
      <ul className="notes">
        {lead.notes.map(({ id, note, created_at }) => (
          <li key={id}>
            <p className="message-text">{note}</p>
            <p className="hint">
              <RelativeTime at={created_at} />
            </p>
            <ConfirmDialog
              label={t("delete")}
              title={t("deleteTitle")}
              consequence={t("deleteHelp")}
              confirmLabel={t("deleteConfirm")}
              onConfirm={() => remove.mutate(id)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}
