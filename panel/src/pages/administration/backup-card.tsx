import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { DescriptionList, type Step, Stepper } from "../../components/description-list.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { RelativeTime, useSizeFormat } from "../../components/formats.tsx";
import { StatusDot, type Tone } from "../../components/status-dot.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { saveStream } from "../../gateway/save-stream.ts";
import type { Backup } from "./administration-queries.ts";

const TONES: Readonly<Record<Backup["status"], Tone>> = {
  running: "warning",
  verified: "success",
  unverified: "info",
  failed: "danger",
};

export function BackupCard({ backup }: { backup: Backup }) {
  const t = useTranslations("administration.backups");
  const tone = TONES[backup.status];
  return (
    <li className="card">
      <div className="head">
        <h2>
          <RelativeTime at={backup.created_at} />
        </h2>
        <span className="pill" data-tone={tone}>
          <StatusDot tone={tone} />
          {t(`statuses.${backup.status}`)}
        </span>
      </div>
      {backup.status === "running" ? <Progress backup={backup} /> : <p>{t(`tests.${backup.status}`)}</p>}
      {backup.reason !== null && <p>{t("reason", { reason: backup.reason })}</p>}
      <Contents backup={backup} />
      {backup.file !== null && <Download backup={backup} />}
    </li>
  );
}

function Progress({ backup: { started_at } }: { backup: Backup }) {
  const t = useTranslations("administration.backups.steps");
  const steps: Step[] = [
    { key: "requested", name: t("requested"), state: "done" },
    { key: "written", name: t("written"), state: started_at === null ? "ahead" : "here" },
    { key: "tested", name: t("tested"), state: "ahead" },
  ];
  return (
    <div role="status">
      <Stepper isFlat steps={steps} />
    </div>
  );
}

function Contents({ backup }: { backup: Backup }) {
  const t = useTranslations("administration.backups");
  const format = useFormatter();
  const size = useSizeFormat();
  const tables = Object.entries(backup.rows).sort(([, a], [, b]) => b - a);
  const rows = tables.reduce((all, [, count]) => all + count, 0);
  const { started_at: from, finished_at: to } = backup;
  const seconds = from === null || to === null ? null : (Date.parse(to) - Date.parse(from)) / 1_000;
  const facts = [
    { name: t("trigger"), value: t(`triggers.${backup.trigger}`) },
    { name: t("size"), value: backup.size === null ? t("noFile") : size(backup.size) },
    { name: t("rows"), value: t("rowsOf", { rows, tables: tables.length }) },
    ...(seconds === null ? [] : [{ name: t("duration"), value: t("seconds", { seconds }) }]),
    ...(backup.verified_at === null
      ? []
      : [{ name: t("verified"), value: <RelativeTime at={backup.verified_at} /> }]),
  ];
  return (
    <>
      <DescriptionList items={facts} />
      <details className="more">
        <summary>{t("details")}</summary>
        <DescriptionList
          items={[
            { name: t("file"), value: backup.file ?? t("noFile") },
            { name: t("node"), value: backup.node ?? t("unknown") },
            { name: t("key"), value: backup.key_id ?? t("unknown") },
            { name: t("version"), value: backup.app_version ?? t("unknown") },
            { name: t("schema"), value: backup.schema_version ?? t("unknown") },
            { name: t("checksum"), value: <code>{backup.checksum ?? t("unknown")}</code> },
            ...tables.map(([name, count]) => ({ name, value: format.number(count) })),
          ]}
        />
      </details>
    </>
  );
}

function Download({ backup }: { backup: Backup }) {
  const t = useTranslations("administration.backups");
  const size = useSizeFormat();
  const [received, setReceived] = useState(0);
  const download = useMutation({
    mutationFn: async () => {
      setReceived(0);
      const { stream } = await gateway.downloadBackup({ id: backup.id });
      const name = backup.file ?? backup.id;
      await saveStream(stream, { name, type: "application/octet-stream", onProgress: setReceived });
    },
  });
  return (
    <div className="stack">
      <ErrorNotice error={download.error} />
      <div className="buttons">
        <ActionButton isPending={download.isPending} onPress={() => download.mutate()}>
          {t("download")}
        </ActionButton>
        {download.isPending && (
          <>
            <progress
              className="usage-bar download"
              max={backup.size ?? undefined}
              value={received}
              aria-label={t("download")}
            />
            <span className="hint" role="status">
              {t("received", { size: size(received) })}
            </span>
          </>
        )}
      </div>
      <p className="hint">{t("encrypted")}</p>
    </div>
  );
}
