import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { EmptyState, LoadingState, LoadMore, PageHeader } from "../../components/page-header.tsx";
import { rowsOf } from "../../components/paged-list.tsx";
import { StatusPill } from "../../components/status-dot.tsx";
import { accountQuery, instancesQuery } from "../../gateway/queries.ts";

/** All keys with their scope. A key belongs to one instance, whose page changes it. */
export function KeysPage() {
  const t = useTranslations();
  const query = useInfiniteQuery(instancesQuery);
  const { data, error, isPending, refetch } = query;
  const rows = rowsOf(data);
  return (
    <>
      <PageHeader title={t("account.keys.title")} lead={t("account.keys.lead")} />
      <KeysManage />
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      {data && rows.length === 0 && (
        <EmptyState title={t("account.keys.none")} help={t("account.keys.noneHelp")}>
          <LinkButton to="/instances/new" kind="primary">
            {t("instances.create")}
          </LinkButton>
        </EmptyState>
      )}
      <ul className="rows" aria-label={t("account.keys.title")}>
        {rows.map(({ id, name, status }) => (
          <li key={id} className="row">
            <h2>{name}</h2>
            <div>
              <StatusPill status={status} />
            </div>
            <LinkButton
              to="/instances/$id/settings"
              params={{ id }}
              aria-label={t("account.keys.openOf", { name })}
            >
              {t("account.keys.open")}
            </LinkButton>
          </li>
        ))}
      </ul>
      <LoadMore query={query} />
    </>
  );
}

/** Whether the keys may manage other instances. */
function KeysManage() {
  const t = useTranslations("account.keys");
  const { data } = useQuery(accountQuery);
  if (!data) return null;
  return (
    <section className="card">
      <h2>{t("reachTitle")}</h2>
      <p>{t("reachHelp")}</p>
      <p>{t(data.settings.keys_manage_instances ? "manageOn" : "manageOff")}</p>
      <p>
        <Link to="/account">{t("manageChange")}</Link>
      </p>
    </section>
  );
}
