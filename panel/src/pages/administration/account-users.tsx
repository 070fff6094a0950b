import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { CodeSample } from "../../components/code-sample.tsx";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { Notice } from "../../components/notice.tsx";
import { accountUsersQuery } from "./administration-queries.ts";

/** The users of an account, each of whom can get a new password. */
export function AccountUsers({ id }: { id: number }) {
  const t = useTranslations();
  const query = useInfiniteQuery(accountUsersQuery(id));
  const { data, error, refetch } = query;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const recover = useMutation({ mutationFn: (userId: number) => gateway.recoverUser({ id: userId }) });
  const recovered = recover.data?.data;
  return (
    <section className="plate">
      <h2>{t("administration.users.title")}</h2>
      <p className="hint">{t("administration.users.help")}</p>
      {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
      <FaultNotice error={recover.error} />
      {recovered && (
        <Notice tone="go" title={t("administration.users.recovered", { name: recovered.user.name })} isUrgent>
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
