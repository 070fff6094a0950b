import { useTranslations } from "use-intl";
import { PageHead } from "../../components/page-head.tsx";

export function AdministrationPage() {
  const t = useTranslations("administration");
  return <PageHead title={t("title")} />;
}
