import { useTranslations } from "use-intl";

/** What it means that this page came over plain HTTP: the browser then refuses the session cookie. */
export function MemoryHint() {
  const t = useTranslations("signIn");
  return window.isSecureContext ? null : <p className="hint">{t("inMemory")}</p>;
}
