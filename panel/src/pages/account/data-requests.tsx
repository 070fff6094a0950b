import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { ListExport } from "../../components/csv/list-export.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { PagedList, rowsOf } from "../../components/paged-list.tsx";
import { StatusDot, type Tone } from "../../components/status-dot.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { type DataRequest, dataRequestsQuery } from "./account-queries.ts";

const COLUMNS = [
  "id",
  "request_type",
  "scope",
  "status",
  "requested_by",
  "affected",
  "due_at",
  "created_at",
  "processed_at",
] as const;

export function DataRequests() {
  const t = useTranslations("account.requests");
  const query = useInfiniteQuery(dataRequestsQuery);
  const rows = rowsOf(query.data);
  return (
    <section className="card">
      <h2>{t("title")}</h2>
      <PagedList
        query={query}
        className="entries"
        label={t("title")}
        none={<p className="hint">{t("none")}</p>}
      >
        {(row) => <RequestEntry key={row.id} row={row} />}
      </PagedList>
      {rows.length > 0 && (
        <div className="buttons">
          <ListExport<DataRequest>
            name="data-requests"
            columns={COLUMNS}
            readPage={(page) => gateway.listDataRequests(page)}
          />
        </div>
      )}
    </section>
  );
}

const TONES: Readonly<Record<DataRequest["status"], Tone>> = {
  processing: "warning",
  completed: "success",
  failed: "danger",
};

/** `children` come first, for example the name of the account. */
export function RequestEntry({ row, children }: { row: DataRequest; children?: ReactNode }) {
  const t = useTranslations("account");
  const changed = Object.values(row.affected).reduce((all, count) => all + count, 0);
  return (
    <li>
      <div>
        {children}
        <p>
          {row.request_type === "export"
            ? t("requests.export")
            : t("requests.anonymize", {
                scope: row.scope === null ? "" : t(`anonymise.scopes.${row.scope}`),
              })}
        </p>
        <p className="hint">
          {t.rich("requests.asked", { when: () => <RelativeTime at={row.created_at} /> })}
          {row.request_type === "anonymize" && ` ${t("requests.changed", { count: changed })}`}
        </p>
      </div>
      <span className="pill" data-tone={TONES[row.status]}>
        <StatusDot tone={TONES[row.status]} />
        {t(`requests.statuses.${row.status}`)}
      </span>
    </li>
  );
}
