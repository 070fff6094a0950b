import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { readId, readOneOf } from "../../api/read-search.ts";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { ListExport } from "../../components/list-export.tsx";
import { LoadingState, LoadMore, PageHead } from "../../components/page-head.tsx";
import { PickList } from "../../components/pick-list.tsx";
import { FilterField } from "../../components/value-field.tsx";
import { RequestEntry } from "../account/data-requests.tsx";
import { type ManagedRequest, requestsQuery } from "./administration-queries.ts";
import { REQUEST_STATUSES, REQUEST_TYPES } from "./administration-words.ts";

const COLUMNS = [
  "id",
  "account_id",
  "account_name",
  "request_type",
  "scope",
  "status",
  "requested_by",
  "affected",
  "due_at",
  "created_at",
  "processed_at",
] as const;

/** Who has exported data or made them anonymous, and whether it is done. */
export function RequestsPage() {
  const t = useTranslations("administration.requests");
  const { account, type, status } = useSearch({ from: "/shell/administration/requests" });
  const filter = { account_id: account, request_type: type, status };
  const query = useInfiniteQuery(requestsQuery(filter));
  const { data, error, isPending, refetch } = query;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      <PageHead title={t("title")} lead={t("lead")} />
      <section className="stack" aria-label={t("title")}>
        <Filters />
        <div className="buttons">
          <ListExport<ManagedRequest>
            name="data-requests"
            columns={COLUMNS}
            readPage={(page) => gateway.listManagedDataRequests({ ...filter, ...page })}
          />
        </div>
        {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
        {isPending && <LoadingState />}
        {data && rows.length === 0 && <p className="hint">{t("none")}</p>}
        {rows.length > 0 && (
          <ul className="entries plate" aria-label={t("title")}>
            {rows.map((row) => (
              <RequestEntry key={row.id} row={row}>
                <Link to="/administration/accounts/$accountId" params={{ accountId: row.account_id }}>
                  {row.account_name}
                </Link>
              </RequestEntry>
            ))}
          </ul>
        )}
        <LoadMore query={query} />
      </section>
    </>
  );
}

function Filters() {
  const t = useTranslations();
  const navigate = useNavigate();
  const filter = useSearch({ from: "/shell/administration/requests" });
  const show = (change: Partial<typeof filter>) =>
    void navigate({ to: "/administration/requests", search: { ...filter, ...change }, replace: true });
  const types = Object.fromEntries(
    REQUEST_TYPES.map((one) => [one, t(`administration.requests.types.${one}`)]),
  );
  const statuses = Object.fromEntries(
    REQUEST_STATUSES.map((one) => [one, t(`account.requests.statuses.${one}`)]),
  );
  return (
    <div className="filters">
      <PickList<string>
        label={t("administration.requests.type")}
        value={filter.type ?? ""}
        options={{ "": t("common.all"), ...types }}
        onChange={(type) => show({ type: readOneOf(REQUEST_TYPES, type) })}
      />
      <PickList<string>
        label={t("administration.accounts.status")}
        value={filter.status ?? ""}
        options={{ "": t("common.all"), ...statuses }}
        onChange={(status) => show({ status: readOneOf(REQUEST_STATUSES, status) })}
      />
      <FilterField
        label={t("administration.accountNumber")}
        value={filter.account?.toString()}
        isNumber
        onChange={(account) => show({ account: readId(account) })}
      />
    </div>
  );
}
