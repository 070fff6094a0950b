import { useTranslations } from "use-intl";
import { PageHead } from "../../components/page-head.tsx";

export function LeadsPage() {
  const t = useTranslations("crm");
  return <PageHead title={t("title")} />;
}
