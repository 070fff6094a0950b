import "./campaigns.css";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { ErrorPage, Notice } from "../../components/error-notice.tsx";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { showToast } from "../../components/toasts.tsx";
import { isNotFound } from "../../gateway/queries.ts";
import { CampaignBuilder } from "./builder/campaign-builder.tsx";
import { draftOf } from "./builder/campaign-draft.ts";
import { useSaveCampaign } from "./builder/use-save-campaign.ts";
import { type CampaignWithTotals, campaignQuery } from "./campaigns-queries.ts";
import { useAccountZone } from "./use-account-zone.ts";

export function EditCampaignPage() {
  const t = useTranslations("campaigns");
  const { id } = useParams({ from: "/shell/campaigns/$id/edit" });
  const { data, error, refetch } = useQuery(campaignQuery(id));
  const account = useAccountZone();
  if (error && !data) return <ErrorPage title={t("title")} error={error} onRetry={() => void refetch()} />;
  if (!data || account.isPending) return <LoadingState />;
  return (
    <>
      <PageHeader
        title={t("editTitle", { name: data.name })}
        breadcrumbs={
          <Link to="/campaigns/$id" params={{ id }}>
            {data.name}
          </Link>
        }
      />
      {isNotFound(error) && (
        <Notice tone="warning" isUrgent>
          <p>{t("deletedElsewhere")}</p>
        </Notice>
      )}
      {data.status === "created" || data.status === "paused" ? (
        <Editor campaign={data} zone={account.zone} />
      ) : (
        <Notice tone="info">
          <p>{t("notEditable")}</p>
        </Notice>
      )}
    </>
  );
}

function Editor({ campaign, zone }: { campaign: CampaignWithTotals; zone: string }) {
  const t = useTranslations("campaigns");
  const navigate = useNavigate();
  const [first] = useState(() => draftOf(campaign, zone));
  const save = useSaveCampaign(campaign.id, (id) => {
    showToast(t("saved"));
    void navigate({ to: "/campaigns/$id", params: { id }, search: {}, ignoreBlocker: true });
  });
  return (
    <CampaignBuilder
      first={first}
      submitLabel={t("saveChanges")}
      numStored={campaign.totals.total}
      mutation={save}
      onSubmit={(draft, recipients) => save.mutate({ draft, recipients })}
    />
  );
}
