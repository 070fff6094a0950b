import { useTranslations } from "use-intl";
import { PageHead } from "../../components/page-head.tsx";

export function ConversationsPage() {
  const t = useTranslations("conversations");
  return <PageHead title={t("title")} />;
}
