import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { accountQuery } from "../../api/queries.ts";
import { FormDialog } from "../../components/form-dialog.tsx";
import { FormField } from "../../components/form-field.tsx";
import { NamedPick } from "../../components/named-pick.tsx";
import { showToast } from "../../components/toasts.tsx";
import type { Role } from "./account-queries.ts";
import { useGrantableRoles } from "./use-grantable-roles.ts";

/** Adds a user to the account. */
export function AddUser() {
  const t = useTranslations("account.users");
  const queries = useQueryClient();
  const roles = useGrantableRoles();
  const add = useMutation({
    mutationFn: (user: Parameters<typeof gateway.createUser>[0]) => gateway.createUser(user),
    onSuccess: ({ data: { name } }) => {
      showToast(t("added", { name }));
      return queries.invalidateQueries({ queryKey: accountQuery.queryKey });
    },
  });
  const submit = ({ name = "", email = "", password = "", role }: Partial<Record<string, string>>) =>
    add.mutateAsync({ name, email, password, role: role as Role });
  return (
    <FormDialog
      label={t("add")}
      kind="main"
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
      <NamedPick name="role" label={t("role")} hint={t("roleHint")} options={roles} defaultValue="agent" />
    </FormDialog>
  );
}
