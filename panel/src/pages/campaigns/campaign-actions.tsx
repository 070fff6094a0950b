import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { saveFile } from "../../gateway/save-stream.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { ACTIVE, type Campaign, type CampaignWithTotals, campaignQuery } from "./campaigns-queries.ts";

const ENDED = new Set<Campaign["status"]>(["completed", "cancelled", "failed"]);
const BY_PERSON = new Set([null, "user", "error_rate"]);

/** The actions that the campaign's state allows. */
export function CampaignActions({ campaign }: { campaign: CampaignWithTotals }) {
  const t = useTranslations("campaigns");
  const { id, status, archived_at } = campaign;
  const change = useCampaignChange(id);
  const mayManage = useAccess().may("admin");
  const isOpen = status === "created" || status === "paused";
  const isPausedByGateway = status === "paused" && !BY_PERSON.has(campaign.status_reason);
  return (
    <div className="stack">
      <ErrorNotice error={change.error} />
      <div className="buttons">
        {isOpen && <StartButton campaign={campaign} change={change} />}
        {(ACTIVE.has(status) || isPausedByGateway) && (
          <ActionButton
            kind={isPausedByGateway ? "secondary" : "primary"}
            isPending={change.isPending}
            onPress={() => change.mutate("pause")}
          >
            {t("pause")}
          </ActionButton>
        )}
        {isOpen && (
          <LinkButton to="/campaigns/$id/edit" params={{ id }}>
            {t("edit")}
          </LinkButton>
        )}
        <RetryButton campaign={campaign} change={change} />
        <CancelButton campaign={campaign} change={change} />
        {ENDED.has(status) && (
          <ActionButton onPress={() => change.mutate(archived_at === null ? "archive" : "restore")}>
            {t(archived_at === null ? "archiveAction" : "restoreAction")}
          </ActionButton>
        )}
        {mayManage && <ReportExport id={id} />}
        {mayManage && (ENDED.has(status) || (isOpen && !isPausedByGateway)) && (
          <DeleteButton campaign={campaign} change={change} />
        )}
      </div>
    </div>
  );
}

interface ChangeButtonProps {
  campaign: CampaignWithTotals;
  change: ReturnType<typeof useCampaignChange>;
}

function RetryButton({ campaign: { status, totals }, change }: ChangeButtonProps) {
  const t = useTranslations("campaigns");
  if (totals.failed === 0 || status === "cancelled" || status === "failed") return null;
  return (
    <ConfirmDialog
      label={t("retry")}
      title={t("retryTitle", { count: totals.failed })}
      consequence={t(status === "completed" ? "retryHelp" : "retryLaterHelp")}
      confirmLabel={t("retryConfirm")}
      onConfirm={() => change.mutate("retry")}
    />
  );
}

function CancelButton({ campaign: { name, status, totals }, change }: ChangeButtonProps) {
  const t = useTranslations("campaigns");
  if (status === "completed" || status === "cancelled") return null;
  return (
    <ConfirmDialog
      label={t("cancel")}
      title={t("cancelTitle", { name })}
      consequence={t("cancelHelp", { count: totals.pending + totals.queued })}
      confirmLabel={t("cancelConfirm")}
      backLabel={t("cancelNot")}
      onConfirm={() => change.mutate("cancel")}
    />
  );
}

function DeleteButton({ campaign: { name }, change }: ChangeButtonProps) {
  const t = useTranslations("campaigns");
  return (
    <ConfirmDialog
      label={t("delete")}
      title={t("deleteTitle", { name })}
      consequence={t("deleteHelp")}
      confirmLabel={t("deleteConfirm")}
      onConfirm={() => change.mutate("delete")}
    />
  );
}

type Change = "start" | "pause" | "cancel" | "retry" | "archive" | "restore" | "delete";

function useCampaignChange(id: number) {
  const t = useTranslations("campaigns");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const show = (status: Campaign["status"]) =>
    queries.setQueryData(campaignQuery(id).queryKey, (before) => before && { ...before, status });
  const commands: Record<Change, () => Promise<string>> = {
    async start() {
      show((await gateway.startCampaign({ id })).data.status);
      return t("started");
    },
    async pause() {
      show((await gateway.pauseCampaign({ id })).data.status);
      return t("paused");
    },
    async cancel() {
      const { data } = await gateway.cancelCampaign({ id });
      show(data.status);
      return t("cancelled", { count: data.handed_over.length });
    },
    async retry() {
      const { data } = await gateway.retryFailedRecipients({ id });
      show(data.status);
      return t("retried", { count: data.retried, left: data.left_out });
    },
    async archive() {
      await gateway.archiveCampaign({ id, archived: true });
      return t("archivedToast");
    },
    async restore() {
      await gateway.archiveCampaign({ id, archived: false });
      return t("restoredToast");
    },
    async delete() {
      await gateway.deleteCampaign({ id });
      await navigate({ to: "/campaigns", search: {} });
      queries.removeQueries({ queryKey: ["campaigns", id] });
      return t("deletedToast");
    },
  };
  return useMutation({
    mutationFn: (change: Change) => commands[change](),
    onSuccess: (text) => showToast(text),
    onSettled: () => queries.invalidateQueries({ queryKey: ["campaigns"] }),
  });
}

/** Asks first, because a sent message cannot be recalled. */
function StartButton({ campaign, change }: ChangeButtonProps) {
  const t = useTranslations("campaigns");
  const { status, totals, name } = campaign;
  if (status === "paused")
    return (
      <ActionButton kind="primary" isPending={change.isPending} onPress={() => change.mutate("start")}>
        {t("resume")}
      </ActionButton>
    );
  if (totals.pending === 0)
    return (
      <LinkButton to="/campaigns/$id/edit" params={{ id: campaign.id }} kind="primary">
        {t("addRecipients")}
      </LinkButton>
    );
  return (
    <ConfirmDialog
      label={t("start")}
      kind="primary"
      title={t("startTitle", { name })}
      consequence={t("startHelp", { count: totals.pending })}
      confirmLabel={t("startConfirm")}
      onConfirm={() => change.mutate("start")}
    />
  );
}

function ReportExport({ id }: { id: number }) {
  const t = useTranslations("common");
  const save = useMutation({
    mutationFn: async () => {
      const { bytes = [] } = await gateway.getCampaignReport({ id, format: "csv" });
      saveFile(`campaign-${id}.csv`, new Blob([Uint8Array.from(bytes)], { type: "text/csv" }));
    },
  });
  return (
    <>
      <ActionButton isPending={save.isPending} onPress={() => save.mutate()}>
        {t("export")}
      </ActionButton>
      <ErrorNotice error={save.error} />
    </>
  );
}
