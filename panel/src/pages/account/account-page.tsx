import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { accountQuery } from "../../api/queries.ts";
import { readForm } from "../../api/read-form.ts";
import { useAccess } from "../../api/use-access.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { CheckField } from "../../components/check-field.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { FaultPage } from "../../components/fault-page.tsx";
import { FormField } from "../../components/form-field.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useFault } from "../../components/use-fault.ts";
import { ZonePick } from "../../components/zone-pick.tsx";
import type { OwnAccount } from "./account-queries.ts";
import { PlanUse } from "./plan-use.tsx";

/** The account itself: what its plan allows, what of it is used, and how it behaves. */
export function AccountPage() {
  const t = useTranslations("account");
  const { data, error, refetch } = useQuery(accountQuery);
  const { may } = useAccess();
  if (error && !data) return <FaultPage title={t("title")} error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  return (
    <>
      <PageHead title={data.name} lead={<Lead account={data} />} />
      <PlanUse account={data} />
      {may("admin") ? <Behaviour account={data} /> : <p className="hint">{t("onlyAdmins")}</p>}
      {may("manager") && (
        <section className="plate">
          <h2>{t("audit.title")}</h2>
          <p>{t("audit.help")}</p>
          <p>
            <Link to="/administration/logs" search={{ type: "audit", account: data.id }}>
              {t("audit.open")}
            </Link>
          </p>
        </section>
      )}
    </>
  );
}

function Lead({ account }: { account: OwnAccount }) {
  const t = useTranslations("account");
  const { status, plan, trial_ends_at, created_at } = account;
  return (
    <p>
      {t("lead", { status: t(`statuses.${status}`), plan: plan.name })}{" "}
      {trial_ends_at !== null &&
        status === "trial" &&
        t.rich("trialEnds", { when: () => <RelativeTime at={trial_ends_at} /> })}{" "}
      {t.rich("since", { when: () => <RelativeTime at={created_at} /> })}
    </p>
  );
}

/** Name and settings, for administrators. */
function Behaviour({ account }: { account: OwnAccount }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const [settings, setSettings] = useState(account.settings);
  const save = useMutation({
    mutationFn: (name: string) => {
      const { auto_create_leads, keys_manage_instances, time_zone } = settings;
      return gateway.updateAccount({
        name,
        settings: { auto_create_leads, keys_manage_instances, time_zone },
      });
    },
    onSuccess: async () => {
      showToast(t("common.saved"));
      await Promise.all([
        queries.invalidateQueries({ queryKey: accountQuery.queryKey, exact: true }),
        queries.invalidateQueries({ queryKey: ["session"] }),
      ]);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate(readForm(event.currentTarget).name ?? "");
  };
  const { fields } = useFault(save.error);
  return (
    <section className="plate">
      <h2>{t("account.behaviour.title")}</h2>
      <Form className="stack" onSubmit={submit} validationErrors={fields}>
        {!fields.name && <FaultNotice error={save.error} />}
        <FormField
          name="name"
          label={t("account.behaviour.name")}
          defaultValue={account.name}
          maxLength={100}
        />
        <CheckField
          label={t("account.behaviour.autoLeads")}
          hint={t("account.behaviour.autoLeadsHelp")}
          isSelected={settings.auto_create_leads}
          onChange={(auto_create_leads) => setSettings({ ...settings, auto_create_leads })}
        />
        <CheckField
          label={t("account.behaviour.keysManage")}
          hint={t("account.behaviour.keysManageHelp")}
          isSelected={settings.keys_manage_instances}
          onChange={(keys_manage_instances) => setSettings({ ...settings, keys_manage_instances })}
        />
        <ZonePick
          label={t("account.behaviour.timeZone")}
          hint={t("account.behaviour.timeZoneHelp")}
          value={settings.time_zone ?? ""}
          none={t("account.behaviour.noTimeZone")}
          onChange={(zone) => setSettings({ ...settings, time_zone: zone || null })}
        />
        <div className="buttons">
          <ActionButton kind="main" type="submit" isPending={save.isPending}>
            {t("common.save")}
          </ActionButton>
        </div>
      </Form>
    </section>
  );
}
