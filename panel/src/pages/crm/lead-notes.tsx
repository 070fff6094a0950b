import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { showToast } from "../../components/toasts.tsx";
import { UnsavedGuard } from "../../components/unsaved-guard.tsx";
import { ValueField } from "../../components/value-field.tsx";
import type { LeadDetails } from "./crm-queries.ts";

/** Internal notes, the latest first. A deleted one can be written again. */
export function LeadNotes({ lead }: { lead: LeadDetails }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const refresh = () => queries.invalidateQueries({ queryKey: ["crm", "lead", lead.id] });
  const add = useMutation({
    mutationFn: (note: string) => gateway.addLeadNote({ id: lead.id, note }),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: ({ noteId }: { noteId: number; note: string }) =>
      gateway.deleteLeadNote({ id: lead.id, noteId }),
    onSuccess: (_, { note }) => showToast(t("crm.noteRemoved"), "go", () => add.mutate(note)),
    onSettled: refresh,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") add.mutate(text.trim(), { onSuccess: () => setText("") });
  };
  return (
    <section className="plate" aria-label={t("crm.notes")}>
      <UnsavedGuard isDirty={text.trim() !== ""} />
      <h2>{t("crm.notes")}</h2>
      <FaultNotice error={add.error ?? remove.error} />
      <Form className="stack" onSubmit={submit}>
        <ValueField
          isLong
          label={t("crm.newNote")}
          hint={t("crm.noteHint")}
          value={text}
          onChange={setText}
          maxLength={10_000}
        />
        <div className="buttons">
          <ActionButton type="submit" isPending={add.isPending}>
            {t("crm.addNote")}
          </ActionButton>
        </div>
      </Form>
      <ul className="events">
        {lead.notes.map(({ id, note, created_at }) => (
          <li key={id} className="note-line">
            <p className="note-text">{note}</p>
            <div className="note-foot">
              <span className="hint">
                <RelativeTime at={created_at} />
              </span>
              <ActionButton kind="bare" onPress={() => remove.mutate({ noteId: id, note })}>
                {t("crm.removeNote")}
              </ActionButton>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
