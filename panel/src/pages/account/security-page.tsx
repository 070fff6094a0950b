import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useMemo } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../../packages/client/src/waygate-error.ts";
import { gateway, setToken } from "../../api/gateway.ts";
import { sessionQuery } from "../../api/queries.ts";
import { readForm } from "../../api/read-search.ts";
import { useAccess } from "../../api/use-access.ts";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { Facts } from "../../components/facts.tsx";
import { FaultNotice, useFault } from "../../components/fault-notice.tsx";
import { FormField } from "../../components/form-field.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { showToast } from "../../components/toasts.tsx";

/** The own sign-in: who is signed in, and the password. Each further means gets a section of its own here. */
export function SecurityPage() {
  const t = useTranslations();
  const { signed } = useAccess();
  if (signed === undefined) return null;
  const { user, account } = signed;
  return (
    <>
      <PageHead title={t("account.security.title")} lead={t("account.security.lead")} />
      <section className="plate" aria-label={t("settings.account")}>
        <h2>{t("settings.account")}</h2>
        <Facts
          facts={[
            { name: t("settings.name"), value: user.name },
            { name: t("settings.email"), value: user.email },
            { name: t("settings.accountName"), value: account.name },
            { name: t("settings.role"), value: t(`settings.roles.${user.role}`) },
          ]}
        />
        <div className="buttons">
          <LinkButton to="/settings">{t("account.security.toSettings")}</LinkButton>
        </div>
      </section>
      <ChangePassword />
    </>
  );
}

function ChangePassword() {
  const t = useTranslations("account.security");
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (input: { current_password: string; new_password: string }) => gateway.changePassword(input),
    onSuccess: ({ data: { token, account, user } }) => {
      setToken(token);
      queries.setQueryData(sessionQuery.queryKey, { account, user });
      showToast(t("changed"));
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const { current_password = "", new_password = "" } = readForm(form);
    change.mutate({ current_password, new_password }, { onSuccess: () => form.reset() });
  };
  const fault = useFault(change.error);
  const isWrong = change.error instanceof WaygateError && change.error.code === "INVALID_CREDENTIALS";
  const wrong = t("wrong");
  const fields = useMemo(
    () => (isWrong ? { current_password: wrong } : fault.fields),
    [isWrong, wrong, fault],
  );
  return (
    <section className="plate">
      <h2>{t("passwordTitle")}</h2>
      <p>{t("passwordHelp")}</p>
      <Form className="stack narrow" onSubmit={submit} validationErrors={fields}>
        {Object.keys(fields).length === 0 && <FaultNotice error={change.error} />}
        <FormField
          name="current_password"
          type="password"
          label={t("current")}
          autoComplete="current-password"
          maxLength={1024}
        />
        <FormField
          name="new_password"
          type="password"
          label={t("new")}
          hint={t("newHint")}
          autoComplete="new-password"
          maxLength={1024}
        />
        <div className="buttons">
          <ActionButton kind="main" type="submit" isPending={change.isPending}>
            {t("change")}
          </ActionButton>
        </div>
      </Form>
    </section>
  );
}
