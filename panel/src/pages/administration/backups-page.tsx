import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { ListExport } from "../../components/csv/list-export.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { EmptyState, PageHeader } from "../../components/page-header.tsx";
import { PagedList, rowsOf } from "../../components/paged-list.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { type Backup, backupsQuery } from "./administration-queries.ts";
import { BackupCard } from "./backup-card.tsx";
import { HeldWorkNotice } from "./held-work-notice.tsx";

const COLUMNS = [
  "id",
  "created_at",
  "status",
  "reason",
  "trigger",
  "size",
  "file",
  "node",
  "checksum",
  "key_id",
  "app_version",
  "schema_version",
  "started_at",
  "finished_at",
  "verified_at",
  "rows",
] as const;

export function BackupsPage() {
  const t = useTranslations("administration.backups");
  const queries = useQueryClient();
  const query = useInfiniteQuery(backupsQuery);
  const { data } = query;
  const rows = rowsOf(data);
  const refresh = () => queries.invalidateQueries({ queryKey: backupsQuery.queryKey });
  const make = useMutation({
    mutationFn: () => {
      const made = gateway.createBackup();
      // The backup is listed while it runs.
      setTimeout(() => void refresh(), 500);
      return made;
    },
    onSettled: refresh,
  });
  const isRunning = make.isPending || rows.some(({ status }) => status === "running");
  return (
    <>
      <PageHeader title={t("title")} lead={t("lead")}>
        <ActionButton kind="primary" isPending={isRunning} onPress={() => make.mutate()}>
          {t(isRunning ? "making" : "make")}
        </ActionButton>
        {rows.length > 0 && (
          <ListExport<Backup>
            name="backups"
            columns={COLUMNS}
            readPage={(page) => gateway.listBackups(page)}
          />
        )}
      </PageHeader>
      <ErrorNotice error={make.error} />
      <HeldWorkNotice />
      <PagedList
        query={query}
        className="stack"
        label={t("title")}
        none={<EmptyState title={t("none")} help={t("noneHelp")} />}
      >
        {(backup) => <BackupCard key={backup.id} backup={backup} />}
      </PagedList>
      <section className="card">
        <h2>{t("restoreTitle")}</h2>
        <p>{t("restoreHelp")}</p>
        <a href="/docs/waygate/backups">{t("guide")}</a>
      </section>
    </>
  );
}
