import type { en } from "./messages/en.ts";

type Translated<Source> = {
  readonly [Key in keyof Source]: Source[Key] extends string ? string : Translated<Source[Key]>;
};

/** The texts of one language. */
export type Messages = Translated<typeof en>;

export const LOCALES = { "pt-BR": "Português (Brasil)", en: "English", es: "Español" } as const;
export type Locale = keyof typeof LOCALES;

declare module "use-intl" {
  interface AppConfig {
    Locale: Locale;
    Messages: Messages;
  }
}

/** The first language of the browser that the panel speaks; otherwise English. */
export function chooseLocale(wanted: readonly string[]): Locale {
  for (const tag of wanted) {
    const [language] = tag.toLowerCase().split("-");
    if (language === "pt") return "pt-BR";
    if (language === "es" || language === "en") return language;
  }
  return "en";
}

/** Each language is a file of its own, which only its readers load. */
export async function loadMessages(locale: Locale): Promise<Messages> {
  if (locale === "pt-BR") return (await import("./messages/pt-br.ts")).ptBr;
  if (locale === "es") return (await import("./messages/es.ts")).es;
  return (await import("./messages/en.ts")).en;
}
