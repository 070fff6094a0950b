import { useTranslations } from "use-intl";
import { Blank } from "../../components/page-header.tsx";

/** Beside the list, while no chat is chosen. */
export function NoConversation() {
  const t = useTranslations("conversations");
  return (
    <div className="talk-main talk-none">
      <Blank title={t("noneTitle")} help={t("noneHelp")} />
    </div>
  );
}
