import "./crm.css";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { DescriptionList } from "../../components/description-list.tsx";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { UnsavedGuard } from "../../components/dialogs/unsaved-guard.tsx";
import { DeletedPage, ErrorNotice, ErrorPage } from "../../components/error-notice.tsx";
import { ValueField } from "../../components/fields/value-field.tsx";
import { formatPhone, RelativeTime, useContactStatus } from "../../components/formats.tsx";
import { EmptyState, LoadingState, PageHeader } from "../../components/page-header.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { instanceQuery, isNotFound } from "../../gateway/queries.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { summarise } from "../conversations/kinds/kinds.tsx";
import { type LeadDetails, leadQuery } from "./crm-queries.ts";
import { nameOf, OptOutPill } from "./lead-badges.tsx";
import { LeadConsent } from "./lead-consent.tsx";
import { LeadDialog } from "./lead-dialog.tsx";
import { LeadFields } from "./lead-fields.tsx";
import { ErasePerson, ExportPerson } from "./person-data.tsx";

export function LeadPage() {
  const t = useTranslations("crm");
  const { id } = useParams({ from: "/shell/crm/$id" });
  const { data, error, refetch } = useQuery(leadQuery(id));
  const mayManage = useAccess().may("admin");
  const breadcrumbs = <Link to="/crm">{t("title")}</Link>;
  if (isNotFound(error) && !data)
    return (
      <>
        <PageHeader title={t("title")} breadcrumbs={breadcrumbs} />
        <EmptyState title={t("noSuch")} help={t("noSuchHelp")} />
      </>
    );
  if (error && !data)
    return (
      <ErrorPage title={t("title")} breadcrumbs={breadcrumbs} error={error} onRetry={() => void refetch()} />
    );
  if (!data) return <LoadingState />;
  if (isNotFound(error))
    return <DeletedPage title={nameOf(data)} breadcrumbs={breadcrumbs} text={t("deletedElsewhere")} />;
  return (
    <>
      <PageHeader title={nameOf(data)} breadcrumbs={breadcrumbs} lead={<OptOutPill lead={data} />}>
        <LeadDialog lead={data} />
        {mayManage && <ExportPerson id={id} />}
        {mayManage && <ErasePerson id={id} name={nameOf(data)} />}
        {mayManage && <DeleteLead lead={data} />}
      </PageHeader>
      <div className="columns gapped">
        <div className="stack" data-wide="">
          <Details lead={data} />
          <LeadTags lead={data} />
          <LeadFields lead={data} />
          <LeadConsent lead={data} />
        </div>
        <div className="stack" data-wide="">
          <LeadNotes lead={data} />
          <Conversations lead={data} />
          <Messages lead={data} />
        </div>
      </div>
    </>
  );
}

function Details({ lead }: { lead: LeadDetails }) {
  const t = useTranslations();
  const nameStatus = useContactStatus();
  const none = t("common.none");
  return (
    <section className="card" aria-label={t("crm.details")}>
      <h2>{t("crm.details")}</h2>
      <DescriptionList
        items={[
          { name: t("crm.phone"), value: lead.phone === null ? none : formatPhone(lead.phone) },
          { name: t("crm.email"), value: lead.email ?? none },
          { name: t("crm.stage"), value: lead.kanban_status ?? t("crm.noStage") },
          { name: t("crm.status"), value: nameStatus(lead.status) },
          { name: t("crm.createdAt"), value: <RelativeTime at={lead.created_at} /> },
          { name: t("crm.updatedAt"), value: <RelativeTime at={lead.updated_at} /> },
        ]}
      />
    </section>
  );
}

function DeleteLead({ lead }: { lead: LeadDetails }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const name = nameOf(lead);
  const remove = useMutation({
    mutationFn: () => gateway.deleteLead({ id: lead.id }),
    onSuccess: async () => {
      await navigate({ to: "/crm", search: {}, ignoreBlocker: true });
      queries.removeQueries({ queryKey: ["crm", "lead", lead.id] });
      showToast(t("crm.removed", { name }));
      await queries.invalidateQueries({ queryKey: ["crm"] });
    },
  });
  return (
    <>
      <ConfirmDialog
        label={t("common.delete")}
        title={t("crm.removeTitle", { name })}
        consequence={t("crm.removeHelp")}
        confirmLabel={t("common.delete")}
        onConfirm={() => remove.mutate()}
      />
      <ErrorNotice error={remove.error} />
    </>
  );
}

function Conversations({ lead }: { lead: LeadDetails }) {
  const t = useTranslations("crm");
  return (
    <section className="card" aria-label={t("conversations")}>
      <h2>{t("conversations")}</h2>
      {lead.conversations.length === 0 && <p className="hint">{t("noConversations")}</p>}
      <ul className="events">
        {lead.conversations.map(({ id, instance_id, jid }) => (
          <li key={id} className="chat-link">
            <span>
              <InstanceName id={instance_id} />
            </span>
            <LinkButton to="/instances/$id/chats/$jid" params={{ id: instance_id, jid }}>
              {t("openConversation")}
            </LinkButton>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The id if the name cannot be loaded. */
function InstanceName({ id }: { id: number }) {
  const t = useTranslations("crm");
  const { data, isPending } = useQuery(instanceQuery(id));
  if (isPending) return null;
  return data?.name ?? t("instanceNumber", { id });
}

const SHOWN_MESSAGES = 8;

function Messages({ lead }: { lead: LeadDetails }) {
  const t = useTranslations("crm");
  const kinds = useTranslations("conversations");
  if (lead.messages.length === 0) return null;
  return (
    <section className="card" aria-label={t("lastMessages")}>
      <h2>{t("lastMessages")}</h2>
      <ul className="events">
        {lead.messages.slice(0, SHOWN_MESSAGES).map((message) => (
          <li key={`${message.instance_id} ${message.message_id}`} className="message-line">
            <p>
              <strong>{t(message.from_me ? "sentByYou" : "received")}</strong>{" "}
              {shorten(summarise(message, kinds))}
            </p>
            <p className="hint">
              <RelativeTime at={message.timestamp} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

const LONGEST_LINE = 160;

function shorten(text: string): string {
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text;
}

/** The tags of a contact. Removing one can be undone. */
function LeadTags({ lead }: { lead: LeadDetails }) {
  const t = useTranslations("crm");
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const save = useMutation({
    mutationFn: (tags: string[]) => gateway.updateLead({ id: lead.id, tags }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["crm"] }),
  });
  const add = (event: FormEvent) => {
    event.preventDefault();
    const tag = text.trim();
    if (tag === "") return;
    save.mutate([...new Set([...lead.tags, tag])], { onSuccess: () => setText("") });
  };
  const remove = (tag: string) => {
    const before = lead.tags;
    save.mutate(
      before.filter((one) => one !== tag),
      { onSuccess: () => showToast(t("tagRemoved", { tag }), "success", () => save.mutate([...before])) },
    );
  };
  return (
    <section className="card" aria-label={t("tags")}>
      <h2>{t("tags")}</h2>
      <ErrorNotice error={save.error} />
      {lead.tags.length > 0 && (
        <ul className="tag-list" aria-label={t("tags")}>
          {lead.tags.map((tag) => (
            <li key={tag} className="tag-removable">
              {tag}
              <ActionButton kind="link" aria-label={t("removeTag", { tag })} onPress={() => remove(tag)}>
                ×
              </ActionButton>
            </li>
          ))}
        </ul>
      )}
      <Form className="inline-form" onSubmit={add}>
        <ValueField label={t("newTag")} value={text} onChange={setText} maxLength={64} />
        <ActionButton type="submit" isPending={save.isPending}>
          {t("addTag")}
        </ActionButton>
      </Form>
    </section>
  );
}

/** Internal notes, newest first. Deleting one can be undone. */
function LeadNotes({ lead }: { lead: LeadDetails }) {
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
    onSuccess: (_, { note }) => showToast(t("crm.noteRemoved"), "success", () => add.mutate(note)),
    onSettled: refresh,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") add.mutate(text.trim(), { onSuccess: () => setText("") });
  };
  return (
    <section className="card" aria-label={t("crm.notes")}>
      <UnsavedGuard isDirty={text.trim() !== ""} />
      <h2>{t("crm.notes")}</h2>
      <ErrorNotice error={add.error ?? remove.error} />
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
              <ActionButton kind="link" onPress={() => remove.mutate({ noteId: id, note })}>
                {t("crm.removeNote")}
              </ActionButton>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
