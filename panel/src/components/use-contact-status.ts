import { useTranslations } from "use-intl";

/** Statuses of contacts are the team's own words, except the first, which the gateway gives. */
export function useContactStatus(): (status: string) => string {
  const t = useTranslations("crm");
  return (status) => (status === "new" ? t("statusNew") : status);
}
