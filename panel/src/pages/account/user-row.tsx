import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { accountQuery } from "../../gateway/queries.ts";
import { useAccess } from "../../gateway/use-access.ts";
import type { AccountUser } from "./account-queries.ts";
import { readAccess, UserAccess, UserInstances } from "./user-access.tsx";

/** A user with the actions of an administrator. The own row links to the own sign-in. */
export function UserRow({ user }: { user: AccountUser }) {
  const t = useTranslations();
  const { signed } = useAccess();
  const isSelf = signed?.user.id === user.id;
  const isAbove = user.role === "super_admin" && signed?.user.role !== "super_admin";
  return (
    <li className="row">
      <div>
        <h2>{user.name}</h2>
        <p className="code">{user.email}</p>
      </div>
      <div>
        <p>
          <strong>{t(`settings.roles.${user.role}`)}</strong>
          {isSelf && ` (${t("account.users.you")})`}
        </p>
        <UserInstances user={user} />
        <p className="hint">
          {t.rich("account.users.created", { when: () => <RelativeTime at={user.created_at} /> })}
        </p>
      </div>
      {isSelf ? (
        <p className="hint">{t("account.users.self")}</p>
      ) : isAbove ? (
        <p className="hint">{t("account.users.above")}</p>
      ) : (
        <UserActions user={user} />
      )}
    </li>
  );
}

function UserActions({ user }: { user: AccountUser }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => gateway.deleteUser({ id: user.id }),
    onSuccess: () => {
      showToast(t("account.users.removed", { name: user.name }));
      return queries.invalidateQueries({ queryKey: accountQuery.queryKey });
    },
  });
  return (
    <div className="stack">
      <ErrorNotice error={remove.error} />
      <div className="buttons">
        <EditUser user={user} />
        <ConfirmDialog
          label={t("common.delete")}
          title={t("account.users.removeTitle", { name: user.name })}
          consequence={t("account.users.removeHelp")}
          confirmLabel={t("account.users.remove")}
          onConfirm={() => remove.mutate()}
        />
      </div>
    </div>
  );
}

function EditUser({ user }: { user: AccountUser }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (input: Omit<Parameters<typeof gateway.updateUser>[0], "id">) =>
      gateway.updateUser({ id: user.id, ...input }),
    onSuccess: () => {
      showToast(t("common.saved"));
      return queries.invalidateQueries({ queryKey: accountQuery.queryKey });
    },
  });
  const submit = ({ name = "", email = "", password = "", ...fields }: Partial<Record<string, string>>) => {
    const { role, instance_ids } = readAccess(fields);
    return change.mutateAsync({
      ...(name !== user.name && { name }),
      ...(email !== user.email && { email }),
      ...(role !== user.role && { role }),
      ...(instance_ids !== undefined && { instance_ids }),
      ...(password !== "" && { password }),
    });
  };
  return (
    <FormDialog
      label={t("common.edit")}
      title={t("account.users.editTitle", { name: user.name })}
      submitLabel={t("common.save")}
      mutation={change}
      onSubmit={submit}
    >
      <FormField name="name" label={t("account.users.name")} defaultValue={user.name} maxLength={100} />
      <FormField
        name="email"
        type="email"
        label={t("account.users.email")}
        defaultValue={user.email}
        maxLength={320}
      />
      <UserAccess user={user} error={change.error} />
      <FormField
        name="password"
        type="password"
        label={t("account.users.newPassword")}
        hint={t("account.users.newPasswordHint")}
        autoComplete="new-password"
        maxLength={1024}
        isOptional
      />
    </FormDialog>
  );
}
