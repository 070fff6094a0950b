import { type ReactNode, Suspense, use } from "react";
import { IntlProvider, useMessages, useTimeZone } from "use-intl";
import { LoadingState } from "../components/page-header.tsx";
import { AREA_TEXTS, type Area, type Locale, type Messages } from "../i18n/locales.ts";
import { useLanguage } from "./language-provider.tsx";

interface AreaTextsProps {
  area: Area;
  children: ReactNode;
}

/** Provides the texts of an area, which load with its first page. */
export function AreaTexts(props: AreaTextsProps) {
  return (
    <Suspense fallback={<LoadingState />}>
      <Loaded {...props} />
    </Suspense>
  );
}

function Loaded({ area, children }: AreaTextsProps) {
  const { locale } = useLanguage();
  const messages = useMessages() as Messages;
  const timeZone = useTimeZone();
  const texts = use(load(area, locale));
  return (
    <IntlProvider locale={locale} messages={{ ...messages, ...texts }} {...(timeZone && { timeZone })}>
      {children}
    </IntlProvider>
  );
}

const loaded = new Map<string, Promise<Partial<Messages>>>();

/** Caches the promise. A failed one is requested again. */
function load(area: Area, locale: Locale): Promise<Partial<Messages>> {
  const key = `${area} ${locale}`;
  const known = loaded.get(key);
  if (known) return known;
  const texts: Promise<Partial<Messages>> = AREA_TEXTS[area][locale]();
  loaded.set(key, texts);
  texts.catch(() => loaded.delete(key));
  return texts;
}
