import { useTranslations } from "use-intl";
import { PageHead } from "../../components/page-head.tsx";

export function HomePage() {
  const t = useTranslations("home");
  return <PageHead title={t("title")} />;
}
