import { useTranslations } from "use-intl";

export function InstanceSettingsPage() {
  const t = useTranslations("shell");
  return <h2>{t("instanceSettings")}</h2>;
}
