import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { PickList } from "../../components/fields/pick-list.tsx";
import { PageHeader } from "../../components/page-header.tsx";
import { sessionQuery } from "../../gateway/queries.ts";
import { LOCALES } from "../../i18n/locales.ts";
import { readTheme, saveTheme, type Theme } from "../../preferences.ts";
import { useLanguage } from "../../shell/language-provider.tsx";

export function SettingsPage() {
  const t = useTranslations("settings");
  const { locale, change } = useLanguage();
  const [theme, setTheme] = useState(readTheme);
  const changeTheme = (next: Theme) => {
    saveTheme(next);
    setTheme(next);
  };
  const themes = { system: t("themes.system"), light: t("themes.light"), dark: t("themes.dark") };
  return (
    <>
      <PageHeader title={t("title")} />
      <section className="card" aria-label={t("title")}>
        <p className="hint">{t("lead")}</p>
        <div className="pickers">
          <PickList label={t("language")} value={locale} options={LOCALES} onChange={change} />
          <PickList label={t("theme")} value={theme} options={themes} onChange={changeTheme} />
        </div>
      </section>
      <SignedInUser />
    </>
  );
}

function SignedInUser() {
  const t = useTranslations("settings");
  const nameAccount = useTranslations("signIn");
  const { data } = useQuery(sessionQuery);
  return (
    <section className="card">
      <h2>{t("account")}</h2>
      <dl className="description-list">
        <Fact name={t("name")} value={data?.user.name} />
        <Fact name={t("email")} value={data?.user.email} />
        <Fact name={t("accountName")} value={data && nameAccount("account", data.account)} />
        <Fact name={t("role")} value={data && t(`roles.${data.user.role}`)} />
      </dl>
    </section>
  );
}

function Fact({ name, value }: { name: string; value: string | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
