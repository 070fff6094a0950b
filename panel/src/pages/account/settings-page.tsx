import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { signOut } from "../../api/gateway.ts";
import { sessionQuery } from "../../api/queries.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { PickList } from "../../components/pick-list.tsx";
import { useLanguage } from "../../i18n/language-provider.tsx";
import { LOCALES } from "../../i18n/locales.ts";
import { readTheme, saveTheme, type Theme } from "../../preferences.ts";

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
      <PageHead title={t("title")} />
      <section className="plate" aria-label={t("title")}>
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
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data } = useQuery(sessionQuery);
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      await navigate({ to: "/sign-in" });
      queries.clear();
    },
  });
  return (
    <section className="plate">
      <h2>{t("account")}</h2>
      <dl className="facts">
        <Fact name={t("name")} value={data?.user.name} />
        <Fact name={t("email")} value={data?.user.email} />
        <Fact name={t("accountName")} value={data && nameAccount("account", data.account)} />
        <Fact name={t("role")} value={data && t(`roles.${data.user.role}`)} />
      </dl>
      <FaultNotice error={leave.error} />
      <div className="buttons">
        <ActionButton isPending={leave.isPending} onPress={() => leave.mutate()}>
          {t("signOut")}
        </ActionButton>
      </div>
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
