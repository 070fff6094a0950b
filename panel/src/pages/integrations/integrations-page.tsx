import { useTranslations } from "use-intl";
import { PageHead } from "../../components/page-head.tsx";

export function IntegrationsPage() {
  const t = useTranslations("integrations");
  return <PageHead title={t("title")} />;
}
