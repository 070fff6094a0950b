import { useTranslations } from "use-intl";
import { PageHead } from "../../components/page-head.tsx";

export function WebhooksPage() {
  const t = useTranslations("webhooks");
  return <PageHead title={t("title")} />;
}
