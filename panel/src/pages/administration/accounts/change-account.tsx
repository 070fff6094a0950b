import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { ErrorNotice, useRequestError } from "../../../components/error-notice.tsx";
import { FormField } from "../../../components/fields/form-field.tsx";
import { NamedPick } from "../../../components/fields/pick-list.tsx";
import { readForm, readOneOf } from "../../../components/fields/read-search.ts";
import { showToast } from "../../../components/toasts.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { useAccess } from "../../../gateway/use-access.ts";
import type { ManagedAccount } from "../administration-queries.ts";
import { ACCOUNT_STATUSES, readTrialEnd } from "../administration-search.ts";
import { usePlanNames } from "./new-account-page.tsx";

/** Name, status, plan and trial of an account. The owner's account has fixed ones. */
export function ChangeAccount({ account }: { account: ManagedAccount }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (input: Omit<Parameters<typeof gateway.changeAccount>[0], "id">) =>
      gateway.changeAccount({ id: account.id, ...input }),
    onSuccess: () => {
      showToast(t("common.saved"));
      return queries.invalidateQueries({ queryKey: ["administration"] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    change.mutate(readChange(account, readForm(event.currentTarget)));
  };
  const { fields } = useRequestError(change.error);
  return (
    <section className="card">
      <h2>{t("administration.change.title")}</h2>
      <Form className="stack" onSubmit={submit} validationErrors={fields} key={account.status + account.name}>
        {Object.keys(fields).length === 0 && <ErrorNotice error={change.error} />}
        <div className="field-grid">
          <FormField
            name="name"
            label={t("administration.newAccount.name")}
            defaultValue={account.name}
            maxLength={100}
          />
          {account.account_type !== "owner" && <ServiceFields account={account} />}
        </div>
        <div className="buttons">
          <ActionButton kind="primary" type="submit" isPending={change.isPending}>
            {t("common.save")}
          </ActionButton>
        </div>
      </Form>
    </section>
  );
}

/** Sends only changed fields, because each change is audited. */
function readChange(account: ManagedAccount, typed: Partial<Record<string, string>>) {
  const { name = "", status, plan_id, trial_ends_at, parent_id } = typed;
  const known = readOneOf(ACCOUNT_STATUSES, status);
  const shownEnd = account.trial_ends_at?.slice(0, 10) ?? "";
  const shownParent = String(account.parent_id ?? "");
  return {
    ...(name !== account.name && { name }),
    ...(known !== undefined && known !== account.status && { status: known }),
    ...(plan_id && Number(plan_id) !== account.plan.id && { plan_id: Number(plan_id) }),
    ...(trial_ends_at !== undefined &&
      trial_ends_at !== shownEnd && {
        trial_ends_at: trial_ends_at === "" ? null : readTrialEnd(trial_ends_at),
      }),
    ...(parent_id !== undefined &&
      parent_id !== shownParent && { parent_id: parent_id === "" ? null : Number(parent_id) }),
  };
}

function ServiceFields({ account }: { account: ManagedAccount }) {
  const t = useTranslations();
  const { may } = useAccess();
  const plans = usePlanNames();
  const statuses = Object.fromEntries(ACCOUNT_STATUSES.map((one) => [one, t(`account.statuses.${one}`)]));
  return (
    <>
      <NamedPick
        name="status"
        label={t("administration.accounts.status")}
        hint={t("administration.change.statusHint")}
        options={statuses}
        defaultValue={account.status}
      />
      <NamedPick
        key={Object.keys(plans).length}
        name="plan_id"
        label={t("administration.plan")}
        hint={t("administration.change.planHint")}
        options={{ [String(account.plan.id)]: account.plan.name, ...plans }}
        defaultValue={String(account.plan.id)}
      />
      <FormField
        name="trial_ends_at"
        label={t("administration.trialEnd")}
        hint={t("administration.trialHint")}
        defaultValue={account.trial_ends_at?.slice(0, 10) ?? ""}
        placeholder="2027-01-31"
        maxLength={40}
        isOptional
      />
      {may("owner") && account.account_type === "client" && (
        <FormField
          name="parent_id"
          label={t("administration.accounts.reseller")}
          hint={t("administration.change.resellerHint")}
          defaultValue={String(account.parent_id ?? "")}
          maxLength={12}
          isOptional
        />
      )}
    </>
  );
}
