import { useTranslations } from "use-intl";
import { EmptyState } from "../../components/page-header.tsx";

export function NoConversation() {
  const t = useTranslations("conversations");
  return (
    <div className="conversation-main conversation-none">
      <EmptyState title={t("noneTitle")} help={t("noneHelp")} />
    </div>
  );
}
