import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useFormatter, useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { DescriptionList, UsageBar } from "../../components/description-list.tsx";
import { ErrorNotice, ErrorPage, useRequestError } from "../../components/error-notice.tsx";
import { CheckField } from "../../components/fields/check-field.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { CountryPick, ZonePick } from "../../components/fields/pick-list.tsx";
import { readForm } from "../../components/fields/read-search.ts";
import { RelativeTime, useSizeFormat } from "../../components/formats.tsx";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { StatusDot } from "../../components/status-dot.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { accountQuery } from "../../gateway/queries.ts";
import { useAccess } from "../../gateway/use-access.ts";
import type { OwnAccount } from "./account-queries.ts";

/** The plan, usage and settings of the account. */
export function AccountPage() {
  const t = useTranslations("account");
  const { data, error, refetch } = useQuery(accountQuery);
  const { may } = useAccess();
  if (error && !data) return <ErrorPage title={t("title")} error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  return (
    <>
      <PageHeader title={data.name} lead={<Lead account={data} />} />
      <PlanUse account={data} />
      {may("admin") ? <Behaviour account={data} /> : <p className="hint">{t("onlyAdmins")}</p>}
      {may("manager") && (
        <section className="card">
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

function Behaviour({ account }: { account: OwnAccount }) {
  const t = useTranslations();
  const [settings, setSettings] = useState(account.settings);
  const save = useSave();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate({ name: readForm(event.currentTarget).name ?? "", settings });
  };
  const { fields } = useRequestError(save.error);
  return (
    <section className="card">
      <h2>{t("account.behaviour.title")}</h2>
      <Form className="stack" onSubmit={submit} validationErrors={fields}>
        {!fields.name && <ErrorNotice error={save.error} />}
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
        <CountryPick
          value={settings.default_country ?? ""}
          none={t("common.countryOfGateway")}
          onChange={(country) => setSettings({ ...settings, default_country: country || null })}
        />
        <div className="buttons">
          <ActionButton kind="primary" type="submit" isPending={save.isPending}>
            {t("common.save")}
          </ActionButton>
        </div>
      </Form>
    </section>
  );
}

function useSave() {
  const t = useTranslations("common");
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ name, settings }: Pick<OwnAccount, "name" | "settings">) => {
      const { auto_create_leads, keys_manage_instances, time_zone, default_country } = settings;
      return gateway.updateAccount({
        name,
        settings: { auto_create_leads, keys_manage_instances, time_zone, default_country },
      });
    },
    onSuccess: async () => {
      showToast(t("saved"));
      await Promise.all([
        queries.invalidateQueries({ queryKey: accountQuery.queryKey, exact: true }),
        queries.invalidateQueries({ queryKey: ["session"] }),
      ]);
    },
  });
}

const MIB = 1_048_576;
const PARTS = ["campaigns", "crm", "integrations"] as const;

function PlanUse({ account: { plan, used } }: { account: OwnAccount }) {
  const t = useTranslations("account.plan");
  const format = useFormatter();
  const size = useSizeFormat();
  const count = (value: number) => format.number(value);
  const bars = [
    { key: "instances", used: used.instances, limit: plan.max_instances, write: count },
    { key: "users", used: used.users, limit: plan.max_users, write: count },
    {
      key: "storage",
      used: used.storage_bytes,
      limit: plan.max_storage_mb === null ? null : plan.max_storage_mb * MIB,
      write: size,
    },
  ] as const;
  return (
    <section className="card">
      <h2>{t("title", { plan: plan.name })}</h2>
      <div className="usages">
        {bars.map(({ key, used, limit, write }) => (
          <UsageBar
            key={key}
            name={t(key)}
            used={used}
            limit={limit}
            text={
              limit === null
                ? t("usedFreely", { used: write(used) })
                : t("usedOf", { used: write(used), limit: write(limit) })
            }
          />
        ))}
      </div>
      <Limits plan={plan} />
      <ul className="parts" aria-label={t("parts")}>
        {PARTS.map((part) => {
          const isIn = plan.features[part] !== false;
          return (
            <li key={part} data-tone={isIn ? "success" : "neutral"} className="pill">
              <StatusDot tone={isIn ? "success" : "neutral"} />
              {t(isIn ? "included" : "notIncluded", { part: t(part) })}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Limits({ plan }: Pick<OwnAccount, "plan">) {
  const t = useTranslations("account.plan");
  const write = (limit: number | null, unit: "aMonth" | "aMinute" | "each") =>
    limit === null ? t("noLimit") : t(unit, { limit });
  return (
    <DescriptionList
      items={[
        { name: t("messages"), value: write(plan.max_messages, "aMonth") },
        { name: t("maxCampaigns"), value: write(plan.max_campaigns, "each") },
        { name: t("maxLeads"), value: write(plan.max_leads, "each") },
        { name: t("rateMessages"), value: write(plan.message_rate_limit_per_minute, "aMinute") },
        { name: t("rateInstance"), value: write(plan.instance_rate_limit_per_minute, "aMinute") },
        { name: t("rateApi"), value: write(plan.api_rate_limit_per_minute, "aMinute") },
      ]}
    />
  );
}
