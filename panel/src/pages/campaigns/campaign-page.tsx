import { useTranslations } from "use-intl";
import { PageHead } from "../../components/page-head.tsx";

export function CampaignPage() {
  const t = useTranslations("campaigns");
  return <PageHead title={t("title")} />;
}
