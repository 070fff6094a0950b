import { useTranslations } from "use-intl";

export function LoadingState() {
  const t = useTranslations("common");
  return (
    <p className="loading" role="status">
      {t("loading")}
    </p>
  );
}
