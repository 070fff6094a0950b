import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useFormatter, useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { useAccess } from "../../api/use-access.ts";
import { LinkButton } from "../../components/action-button.tsx";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Facts } from "../../components/facts.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { ListExport } from "../../components/list-export.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { showToast } from "../../components/toasts.tsx";
import { type Plan, plansQuery } from "./administration-queries.ts";
import { PLAN_DAYS, PLAN_LIMITS, PLAN_PARTS } from "./plan-limits.ts";

const COLUMNS = ["id", "name", "price", ...PLAN_LIMITS, "features"] as const;

/** What accounts may have and how fast they may be. */
export function PlansPage() {
  const t = useTranslations("administration.plans");
  const { may } = useAccess();
  const query = useInfiniteQuery(plansQuery);
  const { data, error, isPending, refetch } = query;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      <PageHead title={t("title")} lead={t(may("owner") ? "lead" : "leadReseller")}>
        {may("owner") && (
          <LinkButton to="/administration/plans/$planId" params={{ planId: "new" }} kind="main">
            {t("create")}
          </LinkButton>
        )}
        <ListExport<Plan> name="plans" columns={COLUMNS} readPage={(page) => gateway.listPlans(page)} />
      </PageHead>
      {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      <ul className="stack" aria-label={t("title")}>
        {rows.map((plan) => (
          <PlanPlate key={plan.id} plan={plan} />
        ))}
      </ul>
      <LoadMore query={query} />
    </>
  );
}

function PlanPlate({ plan }: { plan: Plan }) {
  const t = useTranslations("administration.plans");
  const format = useFormatter();
  const { may } = useAccess();
  const write = (limit: number | null) => (limit === null ? t("noLimit") : format.number(limit));
  const missing = PLAN_PARTS.filter((part) => plan.features[part] === false);
  const days = PLAN_DAYS.filter((name) => typeof plan.features[name] === "number");
  return (
    <li className="plate">
      <div className="head">
        <h2>{plan.name}</h2>
        {may("owner") && <PlanActions plan={plan} />}
      </div>
      <Facts
        facts={[
          { name: t("price"), value: format.number(plan.price) },
          ...PLAN_LIMITS.map((name) => ({ name: t(`limits.${name}`), value: write(plan[name]) })),
          ...days.map((name) => ({
            name: t(`limits.${name}`),
            value: t("days", { days: plan.features[name] ?? 0 }),
          })),
        ]}
      />
      <p className="hint">
        {missing.length === 0
          ? t("allParts")
          : t("withoutParts", { parts: format.list(missing.map((part) => t(`parts.${part}`))) })}
      </p>
    </li>
  );
}

function PlanActions({ plan: { id, name } }: { plan: Plan }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => gateway.deletePlan({ id }),
    onSuccess: () => {
      showToast(t("administration.plans.removed", { name }));
      return queries.invalidateQueries({ queryKey: plansQuery.queryKey });
    },
  });
  if (name === "unlimited") return <p className="hint">{t("administration.plans.fixed")}</p>;
  return (
    <div className="stack">
      <FaultNotice error={remove.error} />
      <div className="buttons">
        <Link
          to="/administration/plans/$planId"
          params={{ planId: String(id) }}
          className="button"
          data-kind="plain"
          aria-label={t("administration.plans.editOf", { name })}
        >
          {t("common.edit")}
        </Link>
        {name !== "standard" && (
          <ConfirmDialog
            label={t("common.delete")}
            title={t("administration.plans.removeTitle", { name })}
            consequence={t("administration.plans.removeHelp")}
            confirmLabel={t("common.delete")}
            onConfirm={() => remove.mutate()}
          />
        )}
      </div>
    </div>
  );
}
