import "./account.css";
import { Link, Outlet } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { TabLinks } from "../../components/page-header.tsx";
import { useAccess } from "../../gateway/use-access.ts";

export function AccountFrame() {
  const t = useTranslations("account");
  const { may } = useAccess();
  return (
    <>
      <TabLinks label={t("navigation")}>
        <Link to="/account" activeOptions={{ exact: true }}>
          {t("title")}
        </Link>
        {may("admin") && (
          <>
            <Link to="/account/users">{t("users.title")}</Link>
            <Link to="/account/keys">{t("keys.title")}</Link>
          </>
        )}
        <Link to="/account/assistants">{t("assistants.tab")}</Link>
        <Link to="/account/privacy">{t("privacy.title")}</Link>
        <Link to="/account/security">{t("security.tab")}</Link>
      </TabLinks>
      <Outlet />
    </>
  );
}
