import "./campaigns.css";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { FaultPage } from "../../components/fault-page.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { Notice } from "../../components/notice.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { showToast } from "../../components/toasts.tsx";
import { CampaignBuilder } from "./campaign-builder.tsx";
import { draftOf } from "./campaign-draft.ts";
import { type CampaignWithTotals, campaignQuery } from "./campaigns-queries.ts";
import { useSaveCampaign } from "./use-save-campaign.ts";

export function EditCampaignPage() {
  const t = useTranslations("campaigns");
  const { id } = useParams({ from: "/shell/campaigns/$id/edit" });
  const { data, error, refetch } = useQuery(campaignQuery(id));
  if (error && !data) return <FaultPage title={t("title")} error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  return (
    <>
      <PageHead
        title={t("editTitle", { name: data.name })}
        trail={
          <Link to="/campaigns/$id" params={{ id }}>
            {data.name}
          </Link>
        }
      />
      {data.status === "created" || data.status === "paused" ? (
        <Editor campaign={data} />
      ) : (
        <Notice tone="note">
          <p>{t("notEditable")}</p>
        </Notice>
      )}
    </>
  );
}

function Editor({ campaign }: { campaign: CampaignWithTotals }) {
  const t = useTranslations("campaigns");
  const navigate = useNavigate();
  const [first] = useState(() => draftOf(campaign));
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
