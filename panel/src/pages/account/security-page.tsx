import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { DescriptionList } from "../../components/description-list.tsx";
import { PageHeader } from "../../components/page-header.tsx";
import { useAccess } from "../../gateway/use-access.ts";
import { PasswordForm } from "../../shell/own-password.tsx";

/** The signed-in user and the password. */
export function SecurityPage() {
  const t = useTranslations();
  const { signed } = useAccess();
  if (signed === undefined) return null;
  const { user, account } = signed;
  return (
    <>
      <PageHeader title={t("account.security.title")} lead={t("account.security.lead")} />
      <section className="card" aria-label={t("settings.account")}>
        <h2>{t("settings.account")}</h2>
        <DescriptionList
          items={[
            { name: t("settings.name"), value: user.name },
            { name: t("settings.email"), value: user.email },
            { name: t("settings.accountName"), value: account.name },
            { name: t("settings.role"), value: t(`settings.roles.${user.role}`) },
          ]}
        />
        <div className="buttons">
          <LinkButton to="/settings">{t("account.security.toSettings")}</LinkButton>
        </div>
      </section>
      <section className="card">
        <h2>{t("account.security.passwordTitle")}</h2>
        <p>{t("account.security.passwordHelp")}</p>
        <PasswordForm />
      </section>
    </>
  );
}
