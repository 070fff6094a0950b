import { useTranslations } from "use-intl";

export function InstanceLogsPage() {
  const t = useTranslations("shell");
  return <h2>{t("logs")}</h2>;
}
