import { useTranslations } from "use-intl";
import { PageHead } from "../../components/page-head.tsx";

export function ConversationPage() {
  const t = useTranslations("conversations");
  return <PageHead title={t("title")} />;
}
