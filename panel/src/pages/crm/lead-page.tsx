import { useTranslations } from "use-intl";
import { PageHead } from "../../components/page-head.tsx";

export function LeadPage() {
  const t = useTranslations("crm");
  return <PageHead title={t("title")} />;
}
