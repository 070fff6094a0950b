import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";

export function ContactsTabs() {
  const t = useTranslations("crm");
  return (
    <nav className="tab-links" aria-label={t("tabs")}>
      <Link to="/crm" activeOptions={{ exact: true, includeSearch: false }}>
        {t("listTab")}
      </Link>
      <Link to="/crm/board" activeOptions={{ includeSearch: false }}>
        {t("boardTab")}
      </Link>
      <Link to="/crm/fields">{t("fieldsTab")}</Link>
      <Link to="/quick-replies">{t("repliesTab")}</Link>
    </nav>
  );
}
