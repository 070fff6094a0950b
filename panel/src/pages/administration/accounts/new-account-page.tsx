import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../../components/action-button.tsx";
import { CodeSample } from "../../../components/code-sample.tsx";
import { ErrorNotice, Notice, useRequestError } from "../../../components/error-notice.tsx";
import { FormField } from "../../../components/fields/form-field.tsx";
import { NamedPick, useCountries } from "../../../components/fields/pick-list.tsx";
import { readForm } from "../../../components/fields/read-search.ts";
import { PageHeader } from "../../../components/page-header.tsx";
import { rowsOf } from "../../../components/paged-list.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { useAccess } from "../../../gateway/use-access.ts";
import { overviewQuery, plansQuery } from "../administration-queries.ts";
import { readTrialEnd } from "../administration-search.ts";

type NewAccount = Parameters<typeof gateway.createAccount>[0];

export function NewAccountPage() {
  const t = useTranslations("administration.newAccount");
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: (input: NewAccount) => gateway.createAccount(input),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["administration"] }),
  });
  const { fields } = useRequestError(create.error);
  if (create.data) return <Created created={create.data.data} />;
  return (
    <>
      <PageHeader
        title={t("title")}
        lead={t("lead")}
        breadcrumbs={<Link to="/administration/accounts">{t("back")}</Link>}
      />
      <section className="card" aria-label={t("title")}>
        <LocalTargetsNote />
        {Object.keys(fields).length === 0 && <ErrorNotice error={create.error} />}
        <AccountForm errors={fields} isPending={create.isPending} onSubmit={create.mutate} />
      </section>
    </>
  );
}

/** From the second account on, webhooks to this machine are blocked unless a setting allows them. */
function LocalTargetsNote() {
  const t = useTranslations("administration.newAccount");
  const { data } = useQuery(overviewQuery);
  if (!data?.next_account_closes_this_machine) return null;
  return (
    <Notice tone="info">
      <p>{t("localTargets")}</p>
    </Notice>
  );
}

interface AccountFormProps {
  errors: Record<string, string>;
  isPending: boolean;
  onSubmit(input: NewAccount): void;
}

function AccountForm({ errors, isPending, onSubmit }: AccountFormProps) {
  const t = useTranslations("administration.newAccount");
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = readForm(event.currentTarget);
    const {
      name = "",
      email = "",
      user_name,
      password,
      plan_id,
      account_type,
      trial_ends_at,
      default_country,
    } = typed;
    onSubmit({
      name,
      email,
      ...(user_name && { user_name }),
      ...(password && { password }),
      ...(default_country && { default_country }),
      ...(plan_id && { plan_id: Number(plan_id) }),
      ...(account_type === "reseller" && { account_type }),
      ...(trial_ends_at && { trial_ends_at: readTrialEnd(trial_ends_at) }),
    });
  };
  return (
    <Form className="stack" onSubmit={submit} validationErrors={errors}>
      <div className="field-grid">
        <FormField name="name" label={t("name")} maxLength={100} autoComplete="off" />
        <FormField
          name="email"
          type="email"
          label={t("email")}
          hint={t("emailHint")}
          maxLength={320}
          autoComplete="off"
        />
        <FormField name="user_name" label={t("user")} maxLength={100} autoComplete="off" isOptional />
        <FormField
          name="password"
          type="password"
          label={t("password")}
          hint={t("passwordHint")}
          maxLength={1024}
          autoComplete="new-password"
          isOptional
        />
        <CountryField />
        <PlanFields />
      </div>
      <div className="buttons">
        <ActionButton kind="primary" type="submit" isPending={isPending}>
          {t("submit")}
        </ActionButton>
      </div>
    </Form>
  );
}

function CountryField() {
  const t = useTranslations("common");
  const countries = useCountries(t("countryOfGateway"));
  return (
    <NamedPick name="default_country" label={t("country")} hint={t("countryHelp")} options={countries} />
  );
}

function PlanFields() {
  const t = useTranslations("administration");
  const { may } = useAccess();
  const plans = usePlanNames();
  return (
    <>
      <NamedPick
        name="plan_id"
        label={t("plan")}
        options={{ "": t("newAccount.standardPlan"), ...plans }}
        hint={t("newAccount.planHint")}
      />
      {may("owner") && (
        <NamedPick
          name="account_type"
          label={t("accounts.type")}
          options={{ client: t("types.client"), reseller: t("types.reseller") }}
          hint={t("newAccount.typeHint")}
        />
      )}
      <FormField
        name="trial_ends_at"
        label={t("trialEnd")}
        hint={t("trialHint")}
        placeholder="2027-01-31"
        maxLength={40}
        autoComplete="off"
        isOptional
      />
    </>
  );
}

/** Plan names by id, as options. */
export function usePlanNames(): Record<string, string> {
  const { data } = useInfiniteQuery(plansQuery);
  const plans = rowsOf(data);
  return Object.fromEntries(plans.map(({ id, name }) => [String(id), name]));
}

/** The generated password appears in this response only. */
function Created({ created }: { created: Awaited<ReturnType<typeof gateway.createAccount>>["data"] }) {
  const t = useTranslations("administration.newAccount");
  return (
    <>
      <PageHeader
        title={t("done", { name: created.name })}
        lead={t("doneLead", { email: created.user.email })}
      />
      <section className="card" aria-label={t("done", { name: created.name })}>
        {created.password === undefined ? (
          <p>{t("ownPassword")}</p>
        ) : (
          <>
            <p>{t("onlyOnce")}</p>
            <CodeSample text={created.password} label={t("password")} />
          </>
        )}
        <div className="buttons">
          <LinkButton
            to="/administration/accounts/$accountId"
            params={{ accountId: created.id }}
            kind="primary"
          >
            {t("open")}
          </LinkButton>
        </div>
      </section>
    </>
  );
}
