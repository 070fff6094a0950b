import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { heldWorkQuery } from "./administration-queries.ts";

/** Work that a restore has put on hold until an operator decides. */
export function HeldWorkNotice() {
  const t = useTranslations("administration.held");
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(heldWorkQuery);
  const decide = useMutation({
    mutationFn: (action: "release" | "discard") => gateway.decideHeldWork({ action }),
    onSuccess: (_, action) => {
      showToast(t(action === "release" ? "released" : "discarded"));
      return queries.invalidateQueries({ queryKey: ["administration"] });
    },
  });
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data || data.sends + data.deliveries + data.others === 0) return null;
  const { sends, deliveries, others, backup_at, restored_at, action } = data;
  const time = (at: string | null) => (at === null ? null : <RelativeTime at={at} />);
  return (
    <Notice tone="warning" title={t("title")} level={2}>
      <p>{t("counts", { sends, deliveries, others })}</p>
      <p>{t.rich("times", { backup: () => time(backup_at), restored: () => time(restored_at) })}</p>
      <ErrorNotice error={decide.error} />
      {action !== null ? (
        <p>{t(action === "release" ? "releasing" : "discarding")}</p>
      ) : (
        <div className="buttons">
          <ConfirmDialog
            label={t("release")}
            title={t("releaseTitle")}
            consequence={t("releaseHelp", { sends, deliveries })}
            confirmLabel={t("release")}
            onConfirm={() => decide.mutate("release")}
          />
          <ConfirmDialog
            label={t("discard")}
            title={t("discardTitle")}
            consequence={t("discardHelp", { sends, deliveries })}
            confirmLabel={t("discard")}
            onConfirm={() => decide.mutate("discard")}
          />
        </div>
      )}
    </Notice>
  );
}
