import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { ListExport } from "../../components/list-export.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { PickList } from "../../components/pick-list.tsx";
import { type AccountUser, ROLES, type Role, usersQuery } from "./account-queries.ts";
import { AddUser } from "./add-user.tsx";
import { RolesTable } from "./roles-table.tsx";
import { UserRow } from "./user-row.tsx";

const COLUMNS = ["id", "name", "email", "role", "created_at"] as const;

/** Who may sign in to the account, and what each may do. */
export function UsersPage() {
  const t = useTranslations("account.users");
  const { role } = useSearch({ from: "/shell/account/users" });
  const query = useInfiniteQuery(usersQuery);
  const { data, error, isPending, refetch } = query;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const shown = rows.filter((row) => role === undefined || row.role === role);
  return (
    <>
      <PageHead title={t("title")} lead={data && t("lead", { count: rows.length })}>
        <AddUser />
      </PageHead>
      <section className="stack" aria-label={t("title")}>
        <div className="filters">
          <RoleFilter role={role} />
          <ListExport<AccountUser>
            name="users"
            columns={COLUMNS}
            readPage={(page) => gateway.listUsers(page)}
          />
        </div>
        {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
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
      <section className="plate">
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
