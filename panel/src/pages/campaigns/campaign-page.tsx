import "./campaigns.css";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { useLiveEvent } from "../../api/live-events.ts";
import { isNotFound } from "../../api/queries.ts";
import { DeletedPage } from "../../components/deleted-page.tsx";
import { FaultPage } from "../../components/fault-page.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { CampaignActions } from "./campaign-actions.tsx";
import { CampaignFacts } from "./campaign-facts.tsx";
import { CampaignProgress } from "./campaign-progress.tsx";
import { CampaignReport } from "./campaign-report.tsx";
import { CampaignReview } from "./campaign-review.tsx";
import { CampaignPill, StateSentence } from "./campaign-state.tsx";
import { ACTIVE, type CampaignTotals, type CampaignWithTotals, campaignQuery } from "./campaigns-queries.ts";
import { RecipientList } from "./recipient-list.tsx";

export function CampaignPage() {
  const t = useTranslations("campaigns");
  const { id } = useParams({ from: "/shell/campaigns/$id" });
  const { data, error, refetch } = useQuery(campaignQuery(id));
  useCampaignEvents(id);
  const trail = <Link to="/campaigns">{t("backToList")}</Link>;
  if (error && !data)
    return <FaultPage title={t("title")} trail={trail} error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  if (isNotFound(error)) return <DeletedPage title={data.name} trail={trail} text={t("deletedElsewhere")} />;
  const isActive = ACTIVE.has(data.status);
  const isWaiting = data.status === "created" || data.status === "paused";
  return (
    <>
      <PageHead
        title={data.name}
        trail={trail}
        lead={
          <div className="state-line">
            <CampaignPill status={data.status} />
            <StateSentence campaign={data} />
          </div>
        }
      />
      <CampaignActions campaign={data} />
      <CampaignProgress campaign={data} />
      {isWaiting && data.totals.pending > 0 && <CampaignReview campaign={data} />}
      {data.status !== "created" && <CampaignReport id={id} isActive={isActive} />}
      <RecipientList id={id} isActive={isActive} />
      <CampaignFacts campaign={data} />
    </>
  );
}

/** Shows the totals of an event at once, and reads again what the event does not have. */
function useCampaignEvents(id: number): void {
  const queries = useQueryClient();
  useLiveEvent(({ event, data }) => {
    if (!event.startsWith("campaign.")) return;
    const { campaign, totals } = data as {
      campaign?: Pick<CampaignWithTotals, "id" | "status" | "status_reason">;
      totals?: CampaignTotals;
    };
    if (campaign?.id !== id || totals === undefined) return;
    const { status, status_reason } = campaign;
    queries.setQueryData(campaignQuery(id).queryKey, (before) =>
      before === undefined ? before : { ...before, status, status_reason, totals },
    );
    void queries.invalidateQueries({ queryKey: ["campaigns", id] });
  });
}
