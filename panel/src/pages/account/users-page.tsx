import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ListExport } from "../../components/csv/list-export.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { LoadingState, LoadMore, PageHeader } from "../../components/page-header.tsx";
import { rowsOf } from "../../components/paged-list.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { accountQuery } from "../../gateway/queries.ts";
import { type AccountUser, ROLES, type Role, usersQuery } from "./account-queries.ts";
import { RolesTable } from "./roles-table.tsx";
import { readAccess, UserAccess } from "./user-access.tsx";
import { UserRow } from "./user-row.tsx";

const COLUMNS = ["id", "name", "email", "role", "instance_ids", "created_at"] as const;

export function UsersPage() {
  const t = useTranslations("account.users");
  const { role } = useSearch({ from: "/shell/account/users" });
  const query = useInfiniteQuery(usersQuery);
  const { data, error, isPending, refetch } = query;
  const rows = rowsOf(data);
  const shown = rows.filter((row) => role === undefined || row.role === role);
  return (
    <>
      <PageHeader title={t("title")} lead={data && t("lead", { count: rows.length })}>
        <AddUser />
      </PageHeader>
      <section className="stack" aria-label={t("title")}>
        <div className="filters">
          <RoleFilter role={role} />
          <ListExport<AccountUser>
            name="users"
            columns={COLUMNS}
            readPage={(page) => gateway.listUsers(page)}
          />
        </div>
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {isPending && <LoadingState />}
        {data && shown.length === 0 && <p className="hint">{t("none")}</p>}
        <ul className="rows" aria-label={t("list")}>
          {shown.map((user) => (
            <UserRow key={user.id} user={user} />
          ))}
        </ul>
        <LoadMore query={query} />
      </section>
      <RolesTable />
      <section className="card">
        <h2>{t("lostTitle")}</h2>
        <p>{t("lostHelp")}</p>
      </section>
    </>
  );
}

function RoleFilter({ role }: { role: Role | undefined }) {
  const t = useTranslations();
  const navigate = useNavigate();
  const names = Object.fromEntries(ROLES.map((one) => [one, t(`settings.roles.${one}`)]));
  const change = (next: string) => {
    const known = ROLES.find((one) => one === next);
    void navigate({
      to: "/account/users",
      search: known === undefined ? {} : { role: known },
      replace: true,
    });
  };
  return (
    <PickList<string>
      label={t("settings.role")}
      value={role ?? ""}
      options={{ "": t("common.all"), ...names }}
      onChange={change}
    />
  );
}

function AddUser() {
  const t = useTranslations("account.users");
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: (user: Parameters<typeof gateway.createUser>[0]) => gateway.createUser(user),
    onSuccess: ({ data: { name } }) => {
      showToast(t("added", { name }));
      return queries.invalidateQueries({ queryKey: accountQuery.queryKey });
    },
  });
  const submit = ({ name = "", email = "", password = "", ...fields }: Partial<Record<string, string>>) =>
    add.mutateAsync({ name, email, password, ...readAccess(fields) });
  return (
    <FormDialog
      label={t("add")}
      kind="primary"
      title={t("addTitle")}
      submitLabel={t("add")}
      mutation={add}
      onSubmit={submit}
    >
      <FormField name="name" label={t("name")} maxLength={100} autoComplete="off" />
      <FormField name="email" type="email" label={t("email")} maxLength={320} autoComplete="off" />
      <FormField
        name="password"
        type="password"
        label={t("password")}
        hint={t("passwordHint")}
        maxLength={1024}
        autoComplete="new-password"
      />
      <UserAccess hint={t("roleHint")} error={add.error} />
    </FormDialog>
  );
}
