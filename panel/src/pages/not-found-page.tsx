import { useTranslations } from "use-intl";
import { LinkButton } from "../components/action-button.tsx";
import { PageHeader } from "../components/page-header.tsx";

export function NotFoundPage() {
  const t = useTranslations("common");
  return (
    <>
      <PageHeader title={t("notFound")} lead={t("notFoundHelp")} />
      <div className="buttons">
        <LinkButton to="/instances">{t("back")}</LinkButton>
      </div>
    </>
  );
}
