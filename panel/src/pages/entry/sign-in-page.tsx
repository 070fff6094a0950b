import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../../packages/client/src/waygate-error.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { Notice } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { readForm } from "../../components/fields/read-search.ts";
import { PageHeader } from "../../components/page-header.tsx";
import { SignInError } from "../../components/sign-in-error.tsx";
import { signIn } from "../../gateway/gateway.ts";
import { sessionQuery } from "../../gateway/queries.ts";
import { EntryFrame, MemoryHint } from "../../shell/entry-frame.tsx";

export function SignInPage() {
  const t = useTranslations("signIn");
  const enter = useSignIn();
  const { to } = useSearch({ from: "/sign-in" });
  const [isNumberAsked, setNumberAsked] = useState(false);
  const askForNumber = (error: unknown) => {
    if (error instanceof WaygateError && error.code === "INVALID_CREDENTIALS") setNumberAsked(true);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { email = "", password = "", account = "" } = readForm(event.currentTarget);
    const account_id = Number(account.replace(/\D/g, ""));
    enter.mutate({ email, password, ...(account_id > 0 && { account_id }) }, { onError: askForNumber });
  };
  const accounts = readAccounts(enter.error);
  const chooseAccount = (account_id: number) =>
    enter.variables && enter.mutate({ ...enter.variables, account_id });
  return (
    <EntryFrame>
      <PageHeader title={t("title")} />
      {to !== undefined && enter.isIdle && (
        <Notice tone="info">
          <p>{t("signedOut")}</p>
        </Notice>
      )}
      {accounts.length === 0 ? (
        <SignInError error={enter.error} />
      ) : (
        <Notice tone="info" isUrgent>
          <p>{t("which")}</p>
          <div className="buttons">
            {accounts.map(({ id, name }) => (
              <ActionButton key={id} onPress={() => chooseAccount(id)}>
                {t("account", { id, name })}
              </ActionButton>
            ))}
          </div>
        </Notice>
      )}
      <Form className="stack" onSubmit={submit}>
        <FormField name="email" type="email" label={t("email")} autoComplete="username" />
        <FormField name="password" type="password" label={t("password")} autoComplete="current-password" />
        {/* The gateway checks only the ten oldest accounts of an e-mail address. */}
        {isNumberAsked && (
          <FormField
            name="account"
            inputMode="numeric"
            label={t("accountNumber")}
            hint={t("accountNumberHint")}
            autoComplete="off"
            maxLength={15}
            isOptional
          />
        )}
        <ActionButton kind="primary" type="submit" isPending={enter.isPending}>
          {t("submit")}
        </ActionButton>
      </Form>
      <p className="hint">{t("help")}</p>
      <MemoryHint />
    </EntryFrame>
  );
}

/** The accounts to choose from if the password fits several. */
function readAccounts(error: unknown): { id: number; name: string }[] {
  const accounts = error instanceof WaygateError ? error.details?.accounts : undefined;
  return Array.isArray(accounts) ? accounts : [];
}

function useSignIn() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { to } = useSearch({ from: "/sign-in" });
  return useMutation({
    mutationFn: signIn,
    onSuccess: async (signed) => {
      queries.clear();
      queries.setQueryData(sessionQuery.queryKey, signed);
      await navigate({ href: to ?? "/" });
    },
  });
}
