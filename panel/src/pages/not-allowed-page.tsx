import { useTranslations } from "use-intl";
import type { Need } from "../api/may-open.ts";
import { useAccess } from "../api/use-access.ts";
import { LinkButton } from "../components/action-button.tsx";
import { PageHead } from "../components/page-head.tsx";

/** What a user sees who has typed the address of a page that is not for the own role or account. */
export function NotAllowedPage({ need }: { need: Need }) {
  const t = useTranslations();
  const { signed } = useAccess();
  const role = signed ? t(`settings.roles.${signed.user.role}`) : "";
  const isRole = need === "admin" || signed?.user.role === "agent";
  return (
    <>
      <PageHead
        title={t("shell.notAllowed")}
        lead={isRole ? t("shell.notAllowedRole", { role }) : t(`shell.notAllowedAccount.${need}`)}
      />
      <div className="buttons">
        <LinkButton to="/">{t("shell.toStart")}</LinkButton>
      </div>
    </>
  );
}
