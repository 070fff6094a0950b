import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { PickList } from "../components/fields/pick-list.tsx";
import { LOCALES } from "../i18n/locales.ts";
import { useLanguage } from "./language-provider.tsx";

/** The layout of the pages before the sign-in. */
export function EntryFrame({ children }: { children: ReactNode }) {
  const t = useTranslations();
  const { locale, change } = useLanguage();
  return (
    <div className="entry-frame">
      <header className="brand">
        <BrandMark size={40} /> Waygate
      </header>
      <main id="content" className="card">
        {children}
      </main>
      <footer>
        <PickList label={t("settings.language")} value={locale} options={LOCALES} onChange={change} />
      </footer>
    </div>
  );
}

export function BrandMark({ size = 30 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="var(--brand)" />
      <g fill="none" stroke="var(--on-brand)" strokeWidth="3.4" strokeLinecap="round">
        <path d="M8 25V14a8 8 0 0 1 16 0v11" />
        <path d="M16 12v13" opacity="0.6" />
      </g>
    </svg>
  );
}

/** Shown over plain HTTP, where the browser rejects the session cookie. */
export function MemoryHint() {
  const t = useTranslations("signIn");
  return window.isSecureContext ? null : <p className="hint">{t("inMemory")}</p>;
}
