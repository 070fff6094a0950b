import "./campaigns.css";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { showToast } from "../../components/toasts.tsx";
import { CampaignBuilder } from "./builder/campaign-builder.tsx";
import { emptyDraft } from "./builder/campaign-draft.ts";
import { useSaveCampaign } from "./builder/use-save-campaign.ts";
import { useAccountZone } from "./use-account-zone.ts";

export function NewCampaignPage() {
  const t = useTranslations("campaigns");
  const { zone, isPending } = useAccountZone();
  return (
    <>
      <PageHeader
        title={t("newTitle")}
        lead={t("newLead")}
        breadcrumbs={<Link to="/campaigns">{t("backToList")}</Link>}
      />
      {isPending ? <LoadingState /> : <Builder zone={zone} />}
    </>
  );
}

function Builder({ zone }: { zone: string }) {
  const t = useTranslations("campaigns");
  const navigate = useNavigate();
  const [first] = useState(() => emptyDraft(zone));
  const save = useSaveCampaign(undefined, (id) => {
    showToast(t("savedDraft"));
    void navigate({ to: "/campaigns/$id", params: { id }, search: {}, ignoreBlocker: true });
  });
  return (
    <CampaignBuilder
      first={first}
      submitLabel={t("saveDraft")}
      numStored={0}
      mutation={save}
      onSubmit={(draft, recipients) => save.mutate({ draft, recipients })}
    />
  );
}
