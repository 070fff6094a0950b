import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { BrandMark } from "../components/brand-mark.tsx";
import { PickList } from "../components/pick-list.tsx";
import { useLanguage } from "../i18n/language-provider.tsx";
import { LOCALES } from "../i18n/locales.ts";

/** The frame of the pages before the sign-in. */
export function GateFrame({ children }: { children: ReactNode }) {
  const t = useTranslations();
  const { locale, change } = useLanguage();
  return (
    <div className="gate">
      <header className="brand">
        <BrandMark size={40} /> Waygate
      </header>
      <main id="content" className="plate">
        {children}
      </main>
      <footer>
        <PickList label={t("settings.language")} value={locale} options={LOCALES} onChange={change} />
      </footer>
    </div>
  );
}
