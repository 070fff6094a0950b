import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useFormatter, useTranslations } from "use-intl";
import { CodeSample } from "../../../components/code-sample.tsx";
import { DescriptionList } from "../../../components/description-list.tsx";
import { ConfirmDialog } from "../../../components/dialogs/confirm-dialog.tsx";
import { TypedConfirm } from "../../../components/dialogs/typed-confirm.tsx";
import { ErrorNotice, ErrorPage, Notice } from "../../../components/error-notice.tsx";
import { RelativeTime, useSizeFormat } from "../../../components/formats.tsx";
import { LoadingState, LoadMore, PageHeader } from "../../../components/page-header.tsx";
import { rowsOf } from "../../../components/paged-list.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { useAccess } from "../../../gateway/use-access.ts";
import { accountUsersQuery, type ManagedAccount, managedAccountQuery } from "../administration-queries.ts";
import { AccountPill } from "./account-pill.tsx";
import { ChangeAccount } from "./change-account.tsx";

export function ManagedAccountPage() {
  const t = useTranslations("administration");
  const { accountId: id } = useParams({ from: "/shell/administration/accounts/$accountId" });
  const { may } = useAccess();
  const { data, error, isPending, refetch } = useQuery(managedAccountQuery(id));
  const breadcrumbs = <Link to="/administration/accounts">{t("newAccount.back")}</Link>;
  if (error && !data)
    return (
      <ErrorPage
        title={t("accounts.title")}
        breadcrumbs={breadcrumbs}
        error={error}
        onRetry={() => void refetch()}
      />
    );
  if (isPending) return <LoadingState />;
  if (!data)
    return (
      <PageHeader title={t("account.unknown")} lead={t("account.unknownHelp")} breadcrumbs={breadcrumbs} />
    );
  const isOwner = data.account_type === "owner";
  return (
    <>
      <PageHeader title={data.name} breadcrumbs={breadcrumbs} lead={<AccountPill status={data.status} />} />
      <Use account={data} />
      <ChangeAccount account={data} />
      {may("owner") && <AccountUsers id={id} />}
      {may("owner") && !isOwner && <Removal account={data} />}
    </>
  );
}

function Use({ account }: { account: ManagedAccount }) {
  const t = useTranslations("administration");
  const format = useFormatter();
  const size = useSizeFormat();
  const { id, parent_id, trial_ends_at } = account;
  return (
    <section className="card" aria-label={t("account.use")}>
      <DescriptionList
        items={[
          { name: t("account.number"), value: id },
          { name: t("accounts.type"), value: t(`types.${account.account_type}`) },
          { name: t("plan"), value: account.plan.name },
          ...(parent_id === null ? [] : [{ name: t("accounts.reseller"), value: parent_id }]),
          ...(trial_ends_at === null
            ? []
            : [
                {
                  name: t("trialEnd"),
                  value: format.dateTime(new Date(trial_ends_at), { dateStyle: "medium" }),
                },
              ]),
          {
            name: t("account.instances"),
            value: t("account.connected", { of: account.instances, count: account.connected_instances }),
          },
          { name: t("account.users"), value: account.users },
          { name: t("account.messages"), value: format.number(account.messages_month) },
          { name: t("account.storage"), value: size(account.storage_bytes) },
          { name: t("account.created"), value: <RelativeTime at={account.created_at} /> },
        ]}
      />
      <div className="links">
        <Link to="/administration/monitor" search={{ account: id }}>
          {t("account.toInstances")}
        </Link>
        <Link to="/administration/logs" search={{ type: "audit", account: id }}>
          {t("account.toAudit")}
        </Link>
        <Link to="/administration/requests" search={{ account: id }}>
          {t("account.toRequests")}
        </Link>
        {account.account_type === "reseller" && (
          <Link to="/administration/accounts" search={{ reseller: id }}>
            {t("account.toCustomers")}
          </Link>
        )}
      </div>
    </section>
  );
}

function Removal({ account: { id, name, instances } }: { account: ManagedAccount }) {
  const t = useTranslations("administration.removal");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => gateway.removeAccount({ id }),
    onSuccess: async () => {
      showToast(t("done", { name }));
      await navigate({ to: "/administration/accounts" });
      await queries.invalidateQueries({ queryKey: ["administration"] });
    },
  });
  return (
    <section className="card">
      <h2>{t("title")}</h2>
      <p>{t("help")}</p>
      <div className="buttons">
        <TypedConfirm
          label={t("start")}
          title={t("confirmTitle", { name })}
          consequence={
            <>
              <p>{t("consequence", { instances })}</p>
              <p>{t("irreversible")}</p>
            </>
          }
          word={name}
          confirmLabel={t("confirm")}
          mutation={remove}
          onConfirm={() => remove.mutateAsync()}
        />
      </div>
    </section>
  );
}

/** The users of an account. An administrator can reset each password. */
function AccountUsers({ id }: { id: number }) {
  const t = useTranslations();
  const query = useInfiniteQuery(accountUsersQuery(id));
  const { data, error, refetch } = query;
  const rows = rowsOf(data);
  const recover = useMutation({ mutationFn: (userId: number) => gateway.recoverUser({ id: userId }) });
  const recovered = recover.data?.data;
  return (
    <section className="card">
      <h2>{t("administration.users.title")}</h2>
      <p className="hint">{t("administration.users.help")}</p>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <ErrorNotice error={recover.error} />
      {recovered && (
        <Notice
          tone="success"
          title={t("administration.users.recovered", { name: recovered.user.name })}
          isUrgent
        >
          <p>{t("administration.users.onlyOnce")}</p>
          <CodeSample text={recovered.password} label={t("administration.newAccount.password")} />
        </Notice>
      )}
      <ul className="entries" aria-label={t("administration.users.title")}>
        {rows.map((user) => (
          <li key={user.id}>
            <div>
              <p>
                <strong>{user.name}</strong> · {t(`settings.roles.${user.role}`)}
              </p>
              <p className="code">{user.email}</p>
            </div>
            <ConfirmDialog
              label={t("administration.users.recover")}
              title={t("administration.users.recoverTitle", { name: user.name })}
              consequence={t("administration.users.recoverHelp")}
              confirmLabel={t("administration.users.recover")}
              onConfirm={() => recover.mutate(user.id)}
            />
          </li>
        ))}
      </ul>
      <LoadMore query={query} />
    </section>
  );
}
