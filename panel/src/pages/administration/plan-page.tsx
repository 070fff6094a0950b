import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { UnsavedGuard, useEntered } from "../../components/dialogs/unsaved-guard.tsx";
import { ErrorNotice, ErrorPage, useRequestError } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { NamedPick } from "../../components/fields/pick-list.tsx";
import { readForm, readLimit } from "../../components/fields/read-search.ts";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { type Plan, plansQuery } from "./administration-queries.ts";
import { isFixedPlan, PLAN_DAYS, PLAN_LIMITS, PLAN_PARTS, PlanFacts } from "./plan-facts.tsx";

type NewPlan = Parameters<typeof gateway.createPlan>[0];

export function PlanPage() {
  const t = useTranslations("administration.plans");
  const { planId } = useParams({ from: "/shell/administration/plans/$planId" });
  const { data, error, refetch } = useInfiniteQuery(plansQuery);
  const isNew = planId === "new";
  const plan = data?.pages.flatMap((page) => page.data).find(({ id }) => String(id) === planId);
  const breadcrumbs = <Link to="/administration/plans">{t("back")}</Link>;
  if (!isNew && error && !data)
    return (
      <ErrorPage title={t("title")} breadcrumbs={breadcrumbs} error={error} onRetry={() => void refetch()} />
    );
  if (!isNew && !data) return <LoadingState />;
  if (!isNew && !plan) return <PageHeader title={t("unknown")} breadcrumbs={breadcrumbs} />;
  if (plan && isFixedPlan(plan))
    return (
      <>
        <PageHeader title={plan.name} lead={t("fixed")} breadcrumbs={breadcrumbs} />
        <section className="card">
          <PlanFacts plan={plan} />
        </section>
      </>
    );
  return (
    <>
      <PageHeader
        title={plan ? t("editTitle", { name: plan.name }) : t("newTitle")}
        lead={t(plan ? "editLead" : "newLead")}
        breadcrumbs={breadcrumbs}
      />
      <PlanForm plan={plan} />
    </>
  );
}

function PlanForm({ plan }: { plan: Plan | undefined }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { isEntered, listener } = useEntered();
  const save = useMutation({
    mutationFn: (input: NewPlan) =>
      plan ? gateway.updatePlan({ id: plan.id, ...input }) : gateway.createPlan(input),
    onSuccess: async () => {
      showToast(t("common.saved"));
      await queries.invalidateQueries({ queryKey: ["administration"] });
      await navigate({ to: "/administration/plans", ignoreBlocker: true });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate(readPlan(readForm(event.currentTarget)));
  };
  const { fields } = useRequestError(save.error, "features.");
  return (
    <Form className="stack" onSubmit={submit} {...listener} validationErrors={fields}>
      <UnsavedGuard isDirty={isEntered} />
      {Object.keys(fields).length === 0 && <ErrorNotice error={save.error} />}
      <section className="card">
        <div className="field-grid">
          <FormField
            name="name"
            label={t("administration.plans.name")}
            defaultValue={plan?.name ?? ""}
            maxLength={60}
          />
          <FormField
            name="price"
            label={t("administration.plans.price")}
            hint={t("administration.plans.priceHint")}
            defaultValue={String(plan?.price ?? 0)}
            maxLength={13}
          />
        </div>
      </section>
      <LimitFields plan={plan} />
      <DayFields plan={plan} />
      <PartFields plan={plan} />
      <div className="buttons">
        <ActionButton kind="primary" type="submit" isPending={save.isPending}>
          {t("common.save")}
        </ActionButton>
      </div>
    </Form>
  );
}

function readPlan(typed: Partial<Record<string, string>>): NewPlan {
  const { name = "", price = "" } = typed;
  const limits = PLAN_LIMITS.map((limit) => [limit, readLimit(typed[limit])]);
  const days = PLAN_DAYS.map((limit) => [limit, readLimit(typed[limit])]);
  const parts = PLAN_PARTS.map((part) => [part, typed[part] !== "no"]);
  return {
    name,
    // The gateway validates everything that is no number.
    price: Number.isFinite(Number(price)) ? Number(price) : (price as unknown as number),
    ...Object.fromEntries(limits),
    features: Object.fromEntries([...days, ...parts]),
  };
}

function LimitFields({ plan }: { plan: Plan | undefined }) {
  const t = useTranslations("administration.plans");
  return (
    <section className="card">
      <h2>{t("limitsTitle")}</h2>
      <p className="hint">{t("limitsHelp")}</p>
      <div className="field-grid">
        {PLAN_LIMITS.map((name) => (
          <FormField
            key={name}
            name={name}
            label={t(`limits.${name}`)}
            hint={t(`hints.${name}`)}
            defaultValue={String(plan?.[name] ?? "")}
            maxLength={10}
            autoComplete="off"
            isOptional
          />
        ))}
      </div>
    </section>
  );
}

function DayFields({ plan }: { plan: Plan | undefined }) {
  const t = useTranslations("administration.plans");
  return (
    <section className="card">
      <h2>{t("daysTitle")}</h2>
      <p className="hint">{t("daysHelp")}</p>
      <div className="field-grid">
        {PLAN_DAYS.map((name) => (
          <FormField
            key={name}
            name={name}
            label={t(`limits.${name}`)}
            hint={t(`hints.${name}`)}
            defaultValue={String(plan?.features[name] ?? "")}
            maxLength={4}
            autoComplete="off"
            isOptional
          />
        ))}
      </div>
    </section>
  );
}

function PartFields({ plan }: { plan: Plan | undefined }) {
  const t = useTranslations("administration.plans");
  return (
    <section className="card">
      <h2>{t("partsTitle")}</h2>
      <div className="field-grid">
        {PLAN_PARTS.map((part) => (
          <NamedPick
            key={part}
            name={part}
            label={t(`parts.${part}`)}
            options={{ yes: t("included"), no: t("notIncluded") }}
            defaultValue={plan?.features[part] === false ? "no" : "yes"}
          />
        ))}
      </div>
    </section>
  );
}
