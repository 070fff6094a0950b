import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { accountQuery } from "../../api/queries.ts";
import { readForm } from "../../api/read-form.ts";
import { readLimit } from "../../api/read-limit.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { FormField } from "../../components/form-field.tsx";
import { showToast } from "../../components/toasts.tsx";
import { UnsavedGuard } from "../../components/unsaved-guard.tsx";
import { useEntered } from "../../components/use-entered.ts";
import { useFault } from "../../components/use-fault.ts";
import type { OwnAccount } from "./account-queries.ts";

const KINDS = ["message", "campaign", "lead", "event", "log"] as const;
type Kind = (typeof KINDS)[number];
type Setting = `${Kind}_retention_days`;

/** After how many days each kind of data is deleted. */
export function RetentionForm({ account }: { account: OwnAccount }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const { isEntered, clear, listener } = useEntered();
  const save = useMutation({
    mutationFn: (settings: Partial<Record<Setting, number | null>>) => gateway.updateAccount({ settings }),
    onSuccess: () => {
      clear();
      showToast(t("common.saved"));
      return queries.invalidateQueries({ queryKey: accountQuery.queryKey, exact: true });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = readForm(event.currentTarget);
    const entries = KINDS.map((kind) => [
      `${kind}_retention_days`,
      readLimit(typed[`${kind}_retention_days`]),
    ]);
    save.mutate(Object.fromEntries(entries));
  };
  const { fields } = useFault(save.error, "settings.");
  return (
    <section className="plate">
      <h2>{t("account.retention.title")}</h2>
      <p>{t("account.retention.lead")}</p>
      <Form className="stack" onSubmit={submit} {...listener} validationErrors={fields}>
        <UnsavedGuard isDirty={isEntered} />
        {Object.keys(fields).length === 0 && <FaultNotice error={save.error} />}
        <div className="field-grid">
          {KINDS.map((kind) => (
            <RetentionField key={kind} kind={kind} account={account} />
          ))}
        </div>
        <div className="buttons">
          <ActionButton type="submit" isPending={save.isPending}>
            {t("common.save")}
          </ActionButton>
        </div>
      </Form>
    </section>
  );
}

function RetentionField({ kind, account: { settings, plan } }: { kind: Kind; account: OwnAccount }) {
  const t = useTranslations("account.retention");
  const ceiling = plan.features[`max_${kind}_retention_days`];
  return (
    <FormField
      name={`${kind}_retention_days`}
      label={t(`${kind}s`)}
      hint={typeof ceiling === "number" ? t("ceiling", { days: ceiling }) : t("noCeiling")}
      defaultValue={String(settings[`${kind}_retention_days`] ?? "")}
      maxLength={5}
      autoComplete="off"
      isOptional
    />
  );
}
