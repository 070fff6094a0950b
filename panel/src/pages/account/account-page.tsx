import { useTranslations } from "use-intl";
import { PageHead } from "../../components/page-head.tsx";

export function AccountPage() {
  const t = useTranslations("account");
  return <PageHead title={t("title")} />;
}
