import { useTranslations } from "use-intl";
import { EmptyState } from "../../components/page-header.tsx";

/** Beside the list, while no chat is chosen. */
export function NoConversation() {
  const t = useTranslations("conversations");
  return (
    <div className="conversation-main conversation-none">
      <EmptyState title={t("noneTitle")} help={t("noneHelp")} />
    </div>
  );
}
