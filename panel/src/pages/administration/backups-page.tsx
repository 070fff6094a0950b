import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { ListExport } from "../../components/list-export.tsx";
import { Blank, LoadingState, LoadMore, PageHead } from "../../components/page-head.tsx";
import { type Backup, backupsQuery } from "./administration-queries.ts";
import { BackupPlate } from "./backup-plate.tsx";
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

/** The backups, each with what its restore test has shown. */
export function BackupsPage() {
  const t = useTranslations("administration.backups");
  const queries = useQueryClient();
  const query = useInfiniteQuery(backupsQuery);
  const { data, error, isPending, refetch } = query;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const refresh = () => queries.invalidateQueries({ queryKey: backupsQuery.queryKey });
  const make = useMutation({
    mutationFn: () => {
      const made = gateway.createBackup();
      // The list shows the backup while it is being made.
      setTimeout(() => void refresh(), 500);
      return made;
    },
    onSettled: refresh,
  });
  const isRunning = make.isPending || rows.some(({ status }) => status === "running");
  return (
    <>
      <PageHead title={t("title")} lead={t("lead")}>
        <ActionButton kind="main" isPending={isRunning} onPress={() => make.mutate()}>
          {t(isRunning ? "making" : "make")}
        </ActionButton>
        {rows.length > 0 && (
          <ListExport<Backup>
            name="backups"
            columns={COLUMNS}
            readPage={(page) => gateway.listBackups(page)}
          />
        )}
      </PageHead>
      <FaultNotice error={make.error} />
      <HeldWorkNotice />
      {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      {data && rows.length === 0 && <Blank title={t("none")} help={t("noneHelp")} />}
      <ul className="stack" aria-label={t("title")}>
        {rows.map((backup) => (
          <BackupPlate key={backup.id} backup={backup} />
        ))}
      </ul>
      <LoadMore query={query} />
      <section className="plate">
        <h2>{t("restoreTitle")}</h2>
        <p>{t("restoreHelp")}</p>
        <a href="/docs/waygate/backups">{t("guide")}</a>
      </section>
    </>
  );
}
