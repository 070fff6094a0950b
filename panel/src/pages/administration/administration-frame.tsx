import "./administration.css";
import { Link, Outlet } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { TabLinks } from "../../components/page-header.tsx";
import { useAccess } from "../../gateway/use-access.ts";

/** The tabs of the administration. A reseller sees those of its customers. */
export function AdministrationFrame() {
  const t = useTranslations("administration");
  const { may } = useAccess();
  return (
    <>
      <TabLinks label={t("navigation")}>
        <Link to="/administration" activeOptions={{ exact: true }}>
          {t("overview.tab")}
        </Link>
        <Link to="/administration/monitor">{t("monitor.tab")}</Link>
        <Link to="/administration/accounts">{t("accounts.tab")}</Link>
        <Link to="/administration/plans">{t("plans.tab")}</Link>
        <Link to="/administration/logs">{t("logs.tab")}</Link>
        {may("owner") && <Link to="/administration/backups">{t("backups.tab")}</Link>}
        <Link to="/administration/requests">{t("requests.tab")}</Link>
        {may("owner") && <Link to="/administration/system">{t("system.tab")}</Link>}
      </TabLinks>
      <Outlet />
    </>
  );
}
