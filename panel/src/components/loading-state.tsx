import { useTranslations } from "use-intl";
import { useOnline } from "./use-online.ts";

export function LoadingState() {
  const t = useTranslations();
  return (
    <p className="loading" role="status">
      {useOnline() ? t("common.loading") : t("connection.offlineLoading")}
    </p>
  );
}
