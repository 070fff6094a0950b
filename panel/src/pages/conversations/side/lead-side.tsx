import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { DescriptionList } from "../../../components/description-list.tsx";
import { ConfirmDialog } from "../../../components/dialogs/confirm-dialog.tsx";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { RelativeTime, useContactStatus } from "../../../components/formats.tsx";
import { LoadingState } from "../../../components/page-header.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { type Chat, type LeadDetails, leadQuery } from "../conversation-queries.ts";
import { LeadForm } from "./lead-form.tsx";

/** The lead with the contact's phone, or a button that creates it. */
export function LeadSide({ chat, phone }: { chat: Chat; phone: string }) {
  const t = useTranslations("conversations.lead");
  const client = useQueryClient();
  const query = leadQuery(phone);
  const { data: lead, error, refetch } = useQuery(query);
  const create = useMutation({
    mutationFn: () => gateway.createLead({ phone: `+${phone}`, ...(chat.title && { name: chat.title }) }),
    onSuccess: () => client.invalidateQueries({ queryKey: query.queryKey }),
  });
  return (
    <section className="side-part" aria-label={t("title")}>
      <h3>{t("title")}</h3>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {lead === undefined && !error && <LoadingState />}
      {lead === null && (
        <>
          <p className="hint">{t("none")}</p>
          <ErrorNotice error={create.error} />
          <div className="buttons">
            <ActionButton isPending={create.isPending} onPress={() => create.mutate()}>
              {t("create")}
            </ActionButton>
          </div>
        </>
      )}
      {lead && <Shown lead={lead} phone={phone} />}
    </section>
  );
}

function Shown({ lead, phone }: { lead: LeadDetails; phone: string }) {
  const t = useTranslations("conversations.lead");
  const nameStatus = useContactStatus();
  const fields = Object.entries(lead.custom_fields).map(([name, value]) => ({
    name,
    value: typeof value === "boolean" ? t(value ? "yes" : "no") : String(value),
  }));
  const facts = [
    { name: t("name"), value: lead.name },
    { name: t("email"), value: lead.email },
    { name: t("status"), value: lead.status && nameStatus(lead.status) },
    { name: t("stage"), value: lead.kanban_status },
    ...fields,
  ];
  return (
    <>
      <DescriptionList items={facts.filter(({ value }) => value)} />
      {lead.tags.length > 0 && (
        <ul className="tags" aria-label={t("tags")}>
          {lead.tags.map((tag) => (
            <li key={tag}>{tag}</li>
          ))}
        </ul>
      )}
      <div className="buttons">
        <LeadForm lead={lead} phone={phone} />
        <Link to="/crm/$id" params={{ id: lead.id }} className="button" data-kind="link">
          {t("open")}
        </Link>
      </div>
      <OptOut lead={lead} phone={phone} />
      <LeadNotes lead={lead} phone={phone} />
    </>
  );
}

/** Whether campaigns may send to this phone. */
function OptOut({ lead, phone }: { lead: LeadDetails; phone: string }) {
  const t = useTranslations("conversations.lead");
  const client = useQueryClient();
  const isOut = lead.opted_out_at !== null;
  const change = useMutation({
    mutationFn: () => gateway.updateLead({ id: lead.id, opted_out: !isOut }),
    onSettled: () => client.invalidateQueries({ queryKey: leadQuery(phone).queryKey }),
  });
  return (
    <>
      <ErrorNotice error={change.error} />
      <p className="hint">{t(isOut ? "isOut" : "isIn")}</p>
      <div className="buttons">
        <ActionButton isPending={change.isPending} onPress={() => change.mutate()}>
          {t(isOut ? "optIn" : "optOut")}
        </ActionButton>
      </div>
    </>
  );
}

/** Internal notes, which the contact never sees. */
function LeadNotes({ lead, phone }: { lead: LeadDetails; phone: string }) {
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
      <ErrorNotice error={add.error ?? remove.error} />
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
