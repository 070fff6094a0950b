import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useFormatter, useTranslations } from "use-intl";
import { LinkButton } from "../../../components/action-button.tsx";
import { ListExport } from "../../../components/csv/list-export.tsx";
import { PickList } from "../../../components/fields/pick-list.tsx";
import { readId, readOneOf } from "../../../components/fields/read-search.ts";
import { FilterField } from "../../../components/fields/value-field.tsx";
import { RelativeTime, useSizeFormat } from "../../../components/formats.tsx";
import { EmptyState, PageHeader } from "../../../components/page-header.tsx";
import { PagedList } from "../../../components/paged-list.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { accountsQuery, type ManagedAccount } from "../administration-queries.ts";
import { ACCOUNT_STATUSES, ACCOUNT_TYPES } from "../administration-search.ts";
import { AccountPill } from "./account-pill.tsx";

const COLUMNS = [
  "id",
  "name",
  "account_type",
  "status",
  "parent_id",
  "plan",
  "trial_ends_at",
  "users",
  "instances",
  "connected_instances",
  "messages_month",
  "storage_bytes",
  "created_at",
] as const;

/** The accounts of the gateway, or a reseller's customers. */
export function AccountsPage() {
  const t = useTranslations("administration.accounts");
  const { search, status, type, reseller } = useSearch({ from: "/shell/administration/accounts" });
  const filter = { q: search, status, account_type: type, parent_id: reseller };
  const query = useInfiniteQuery(accountsQuery(filter));
  return (
    <>
      <PageHeader title={t("title")} lead={t("lead")}>
        <LinkButton to="/administration/accounts/new" kind="primary">
          {t("create")}
        </LinkButton>
      </PageHeader>
      <section className="stack" aria-label={t("title")}>
        <Filters />
        <div className="buttons">
          <ListExport<ManagedAccount>
            name="accounts"
            columns={COLUMNS}
            readPage={(page) => gateway.listAccounts({ ...filter, ...page })}
          />
        </div>
        <PagedList
          query={query}
          label={t("list")}
          none={<EmptyState title={t("none")} help={t("noneHelp")} />}
        >
          {(row) => <AccountRow key={row.id} row={row} />}
        </PagedList>
      </section>
    </>
  );
}

function Filters() {
  const t = useTranslations();
  const navigate = useNavigate();
  const filter = useSearch({ from: "/shell/administration/accounts" });
  const show = (change: Partial<typeof filter>) =>
    void navigate({ to: "/administration/accounts", search: { ...filter, ...change }, replace: true });
  const statuses = Object.fromEntries(ACCOUNT_STATUSES.map((one) => [one, t(`account.statuses.${one}`)]));
  const types = Object.fromEntries(ACCOUNT_TYPES.map((one) => [one, t(`administration.types.${one}`)]));
  return (
    <div className="filters">
      <FilterField
        label={t("administration.accounts.search")}
        value={filter.search}
        onChange={(search) => show({ search })}
      />
      <PickList<string>
        label={t("administration.accounts.status")}
        value={filter.status ?? ""}
        options={{ "": t("common.all"), ...statuses }}
        onChange={(status) => show({ status: readOneOf(ACCOUNT_STATUSES, status) })}
      />
      <PickList<string>
        label={t("administration.accounts.type")}
        value={filter.type ?? ""}
        options={{ "": t("common.all"), ...types }}
        onChange={(type) => show({ type: readOneOf(ACCOUNT_TYPES, type) })}
      />
      <FilterField
        label={t("administration.accounts.reseller")}
        value={filter.reseller?.toString()}
        isNumber
        onChange={(reseller) => show({ reseller: readId(reseller) })}
      />
    </div>
  );
}

function AccountRow({ row }: { row: ManagedAccount }) {
  const t = useTranslations("administration");
  const format = useFormatter();
  const size = useSizeFormat();
  return (
    <li className="row">
      <div>
        <h2>
          <Link to="/administration/accounts/$accountId" params={{ accountId: row.id }}>
            {row.name}
          </Link>
        </h2>
        <p className="hint">
          {t("accounts.kindAndPlan", { kind: t(`types.${row.account_type}`), plan: row.plan.name })} ·{" "}
          <RelativeTime at={row.created_at} />
        </p>
      </div>
      <p>
        {t("accounts.use", {
          instances: row.instances,
          connected: row.connected_instances,
          users: row.users,
          messages: format.number(row.messages_month),
          size: size(row.storage_bytes),
        })}
      </p>
      <AccountPill status={row.status} />
    </li>
  );
}
