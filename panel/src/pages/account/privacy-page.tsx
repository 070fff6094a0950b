import { useQuery } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { accountQuery } from "../../api/queries.ts";
import { useAccess } from "../../api/use-access.ts";
import { PageHead } from "../../components/page-head.tsx";
import { AnonymiseData } from "./anonymise-data.tsx";
import { ConsentRecords } from "./consent-records.tsx";
import { DataRequests } from "./data-requests.tsx";
import { ExportData } from "./export-data.tsx";
import { RetentionForm } from "./retention-form.tsx";

/** How long data are kept, how they are taken out or made anonymous, and who has agreed to what. */
export function PrivacyPage() {
  const t = useTranslations("account.privacy");
  const { may } = useAccess();
  const { data } = useQuery(accountQuery);
  return (
    <>
      <PageHead title={t("title")} lead={t("lead")} />
      {may("admin") && data && (
        <>
          <RetentionForm account={data} />
          <div className="columns">
            <ExportData />
            <AnonymiseData accountName={data.name} />
          </div>
        </>
      )}
      <DataRequests />
      <ConsentRecords />
      <a href="/docs/waygate/privacy">{t("guide")}</a>
    </>
  );
}
