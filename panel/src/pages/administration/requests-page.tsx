import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ListExport } from "../../components/csv/list-export.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { readId, readOneOf } from "../../components/fields/read-search.ts";
import { FilterField } from "../../components/fields/value-field.tsx";
import { PageHeader } from "../../components/page-header.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { RequestEntry } from "../account/data-requests.tsx";
import { type ManagedRequest, requestsQuery } from "./administration-queries.ts";
import { REQUEST_STATUSES, REQUEST_TYPES } from "./administration-search.ts";

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

export function RequestsPage() {
  const t = useTranslations("administration.requests");
  const { account, type, status } = useSearch({ from: "/shell/administration/requests" });
  const filter = { account_id: account, request_type: type, status };
  const query = useInfiniteQuery(requestsQuery(filter));
  return (
    <>
      <PageHeader title={t("title")} lead={t("lead")} />
      <section className="stack" aria-label={t("title")}>
        <Filters />
        <div className="buttons">
          <ListExport<ManagedRequest>
            name="data-requests"
            columns={COLUMNS}
            readPage={(page) => gateway.listManagedDataRequests({ ...filter, ...page })}
          />
        </div>
        <PagedList
          query={query}
          className="entries card"
          label={t("title")}
          none={<p className="hint">{t("none")}</p>}
        >
          {(row) => (
            <RequestEntry key={row.id} row={row}>
              <Link to="/administration/accounts/$accountId" params={{ accountId: row.account_id }}>
                {row.account_name}
              </Link>
            </RequestEntry>
          )}
        </PagedList>
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
