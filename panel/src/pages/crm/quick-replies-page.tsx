import "./crm.css";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { ExportButton } from "../../components/csv/list-export.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { ErrorNotice, useRequestError } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { ValueField } from "../../components/fields/value-field.tsx";
import { EmptyState, PageHeader } from "../../components/page-header.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { ContactsTabs } from "./contacts-tabs.tsx";
import { type QuickReply, quickRepliesQuery } from "./crm-queries.ts";

export function QuickRepliesPage() {
  const t = useTranslations("crm");
  const query = useInfiniteQuery(quickRepliesQuery);
  const { may } = useAccess();
  return (
    <>
      <PageHeader title={t("repliesTab")} lead={t("repliesLead")}>
        <ExportButton name="quick-replies" read={readAll} />
        {may("account") && <ReplyDialog kind="primary" />}
      </PageHeader>
      <ContactsTabs />
      <PagedList
        query={query}
        label={t("repliesTab")}
        none={<EmptyState title={t("noReplies")} help={t("noRepliesHelp")} />}
      >
        {(reply) => <ReplyRow key={reply.id} reply={reply} />}
      </PagedList>
    </>
  );
}

function ReplyRow({ reply }: { reply: QuickReply }) {
  const { may } = useAccess();
  const { shortcut, content, title, media_url } = reply;
  return (
    <li className="row reply-row">
      <div>
        <h2 className="code">/{shortcut}</h2>
        {title !== null && <p className="hint">{title}</p>}
      </div>
      <ReplyPreview content={content} mediaUrl={media_url ?? ""} />
      {may("account") && <ReplyActions reply={reply} />}
    </li>
  );
}

function ReplyActions({ reply }: { reply: QuickReply }) {
  const t = useTranslations("crm");
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ["crm", "quick-replies"] });
  const { shortcut, content, title, media_url } = reply;
  const restore = useMutation({
    mutationFn: () => gateway.saveQuickReply({ shortcut, content, title, media_url }),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: () => gateway.deleteQuickReply({ id: reply.id }),
    onSuccess: () =>
      showToast(t("replyRemoved", { shortcut: `/${shortcut}` }), "success", () => restore.mutate()),
    onSettled: refresh,
  });
  return (
    <div className="buttons">
      <ReplyDialog reply={reply} />
      <ActionButton
        isPending={remove.isPending}
        aria-label={t("removeReply", { shortcut: `/${shortcut}` })}
        onPress={() => remove.mutate()}
      >
        {t("remove")}
      </ActionButton>
      <ErrorNotice error={remove.error ?? restore.error} />
    </div>
  );
}

function ReplyPreview({ content, mediaUrl }: { content: string; mediaUrl: string }) {
  return (
    <div className="text-bubble">
      {mediaUrl !== "" && <p className="text-bubble-file">{mediaUrl.split("/").at(-1)?.slice(0, 80)}</p>}
      <p className="text-bubble-text">{content}</p>
    </div>
  );
}

function ReplyDialog({ reply, kind = "secondary" }: { reply?: QuickReply; kind?: "primary" | "secondary" }) {
  const t = useTranslations("crm");
  const [content, setContent] = useState(reply?.content ?? "");
  const [mediaUrl, setMediaUrl] = useState(reply?.media_url ?? "");
  const save = useSaveReply(reply, { content, mediaUrl }, () => {
    if (reply !== undefined) return;
    setContent("");
    setMediaUrl("");
  });
  const { fields } = useRequestError(save.error);
  return (
    <FormDialog
      label={reply ? t("editReply") : t("addReply")}
      kind={kind}
      title={reply ? `/${reply.shortcut}` : t("addReply")}
      submitLabel={t("saveReply")}
      mutation={save}
      onSubmit={(texts) => save.mutateAsync(texts)}
    >
      <ReplyNames reply={reply} />
      <ValueField
        isLong
        label={t("content")}
        value={content}
        onChange={setContent}
        maxLength={65_536}
        error={fields.content}
      />
      <ValueField
        type="url"
        label={t("mediaUrl")}
        hint={t("mediaUrlHint")}
        value={mediaUrl}
        onChange={setMediaUrl}
        maxLength={2048}
        error={fields.media_url}
      />
      {content.trim() !== "" && (
        <div>
          <p className="label">{t("preview")}</p>
          <ReplyPreview content={content} mediaUrl={mediaUrl} />
        </div>
      )}
    </FormDialog>
  );
}

function ReplyNames({ reply }: { reply: QuickReply | undefined }) {
  const t = useTranslations("crm");
  const title = reply?.title ?? "";
  return (
    <>
      {reply === undefined && (
        <FormField name="shortcut" label={t("shortcut")} hint={t("shortcutHint")} maxLength={65} />
      )}
      <FormField name="title" label={t("replyTitle")} maxLength={200} isOptional defaultValue={title} />
    </>
  );
}

interface ReplyTexts {
  content: string;
  mediaUrl: string;
}

function useSaveReply(reply: QuickReply | undefined, texts: ReplyTexts, onSaved: () => void) {
  const t = useTranslations("common");
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ shortcut = reply?.shortcut ?? "", title = "" }: Partial<Record<string, string>>) =>
      gateway.saveQuickReply({
        shortcut,
        content: texts.content,
        title: title.trim() || null,
        media_url: texts.mediaUrl.trim() || null,
      }),
    onSuccess: () => {
      showToast(t("saved"));
      onSaved();
      return queries.invalidateQueries({ queryKey: ["crm", "quick-replies"] });
    },
  });
}

const MOST_ROWS = 10_000;

async function readAll() {
  const rows: QuickReply[] = [];
  let cursor: string | null = "";
  while (cursor !== null && rows.length < MOST_ROWS) {
    const page: Awaited<ReturnType<typeof gateway.listQuickReplies>> = await gateway.listQuickReplies({
      limit: 200,
      ...(cursor && { cursor }),
    });
    rows.push(...page.data);
    cursor = page.pagination.next_cursor;
  }
  const columns = ["shortcut", "title", "content", "media_url"] as const;
  return { columns, rows: rows.map((row) => columns.map((name) => row[name])) };
}
