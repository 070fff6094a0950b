import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { ListExport } from "../../components/csv/list-export.tsx";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { PageHeader } from "../../components/page-header.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { type Plan, plansQuery } from "./administration-queries.ts";
import { isFixedPlan, PLAN_LIMITS, PlanFacts } from "./plan-facts.tsx";

const COLUMNS = ["id", "name", "price", ...PLAN_LIMITS, "features"] as const;

export function PlansPage() {
  const t = useTranslations("administration.plans");
  const { may } = useAccess();
  const query = useInfiniteQuery(plansQuery);
  return (
    <>
      <PageHeader title={t("title")} lead={t(may("owner") ? "lead" : "leadReseller")}>
        {may("owner") && (
          <LinkButton to="/administration/plans/$planId" params={{ planId: "new" }} kind="primary">
            {t("create")}
          </LinkButton>
        )}
        <ListExport<Plan> name="plans" columns={COLUMNS} readPage={(page) => gateway.listPlans(page)} />
      </PageHeader>
      <PagedList query={query} className="stack" label={t("title")}>
        {(plan) => <PlanCard key={plan.id} plan={plan} />}
      </PagedList>
    </>
  );
}

function PlanCard({ plan }: { plan: Plan }) {
  const { may } = useAccess();
  return (
    <li className="card">
      <div className="head">
        <h2>{plan.name}</h2>
        {may("owner") && <PlanActions plan={plan} />}
      </div>
      <PlanFacts plan={plan} />
    </li>
  );
}

function PlanActions({ plan }: { plan: Plan }) {
  const { id, name } = plan;
  const t = useTranslations();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => gateway.deletePlan({ id }),
    onSuccess: () => {
      showToast(t("administration.plans.removed", { name }));
      return queries.invalidateQueries({ queryKey: plansQuery.queryKey });
    },
  });
  if (isFixedPlan(plan)) return <p className="hint">{t("administration.plans.fixed")}</p>;
  return (
    <div className="stack">
      <ErrorNotice error={remove.error} />
      <div className="buttons">
        <Link
          to="/administration/plans/$planId"
          params={{ planId: String(id) }}
          className="button"
          data-kind="secondary"
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
