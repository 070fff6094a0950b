import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useMemo } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { ActionButton } from "../components/action-button.tsx";
import { SessionDialog } from "../components/dialogs/session-dialog.tsx";
import { ErrorNotice, useRequestError } from "../components/error-notice.tsx";
import { FormField } from "../components/fields/form-field.tsx";
import { readForm } from "../components/fields/read-search.ts";
import { PageHeader } from "../components/page-header.tsx";
import { SignOutButton } from "../components/sign-out-button.tsx";
import { showToast } from "../components/toasts.tsx";
import { gateway, setToken } from "../gateway/gateway.ts";
import { sessionQuery } from "../gateway/queries.ts";
import { EntryFrame, MemoryHint } from "./entry-frame.tsx";

/** What users see whose password somebody else has chosen or generated, until they have another one. */
export function OwnPasswordPage() {
  const t = useTranslations("shell");
  return (
    <>
      <EntryFrame>
        <PageHeader title={t("ownPassword")} lead={t("ownPasswordLead")} />
        <PasswordForm />
        <div className="buttons">
          <SignOutButton />
        </div>
        <MemoryHint />
      </EntryFrame>
      <SessionDialog />
    </>
  );
}

/** Changes the password of the signed-in user. */
export function PasswordForm() {
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
  const refused = useRequestError(change.error);
  const isWrong = change.error instanceof WaygateError && change.error.code === "INVALID_CREDENTIALS";
  const wrong = t("wrong");
  const fields = useMemo(
    () => (isWrong ? { current_password: wrong } : refused.fields),
    [isWrong, wrong, refused],
  );
  return (
    <Form className="stack narrow" onSubmit={submit} validationErrors={fields}>
      {Object.keys(fields).length === 0 && <ErrorNotice error={change.error} />}
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
        <ActionButton kind="primary" type="submit" isPending={change.isPending}>
          {t("change")}
        </ActionButton>
      </div>
    </Form>
  );
}
