import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from "react";
import { I18nProvider } from "react-aria-components";
import { IntlProvider } from "use-intl";
import { type Locale, loadMessages, type Messages } from "../i18n/locales.ts";
import { readLocale, saveLocale } from "../preferences.ts";

interface Language {
  locale: Locale;
  change(locale: Locale): void;
}

const LanguageContext = createContext<Language | undefined>(undefined);

/** Provides the texts of the chosen language. `first` is loaded before the first paint. */
export function LanguageProvider({ first, children }: { first: Messages; children: ReactNode }) {
  const [shown, setShown] = useState({ locale: readLocale(), messages: first });
  const change = useCallback((locale: Locale) => {
    saveLocale(locale);
    void loadMessages(locale).then((messages) => setShown({ locale, messages }));
  }, []);
  useEffect(() => {
    document.documentElement.lang = shown.locale;
  }, [shown.locale]);
  const language = useMemo(() => ({ locale: shown.locale, change }), [shown.locale, change]);
  return (
    <LanguageContext value={language}>
      <I18nProvider locale={shown.locale}>
        <IntlProvider
          locale={shown.locale}
          messages={shown.messages}
          timeZone={Intl.DateTimeFormat().resolvedOptions().timeZone}
        >
          {children}
        </IntlProvider>
      </I18nProvider>
    </LanguageContext>
  );
}

export function useLanguage(): Language {
  const language = use(LanguageContext);
  if (language === undefined) throw new Error("useLanguage needs a LanguageProvider above it.");
  return language;
}
