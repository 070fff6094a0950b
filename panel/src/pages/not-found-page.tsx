import { useTranslations } from "use-intl";
import { LinkButton } from "../components/action-button.tsx";
import { PageHead } from "../components/page-header.tsx";

export function NotFoundPage() {
  const t = useTranslations("common");
  return (
    <>
      <PageHead title={t("notFound")} lead={t("notFoundHelp")} />
      <div className="buttons">
        <LinkButton to="/instances">{t("back")}</LinkButton>
      </div>
    </>
  );
}
