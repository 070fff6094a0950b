import type { csv } from "./messages/en/csv.ts";
import type { integrations } from "./messages/en/integrations.ts";
import type { pairing } from "./messages/en/pairing.ts";
import type { webhooks } from "./messages/en/webhooks.ts";
import type { en } from "./messages/en.ts";
import type { FirstMessages, Translated } from "./messages/translated.ts";

type Areas = typeof csv & typeof webhooks & typeof integrations & typeof pairing;

/** The texts of one language: those of the first load and those of each area. */
export type Messages = Translated<typeof en & Areas>;

export const LOCALES = { "pt-BR": "Português (Brasil)", en: "English", es: "Español" } as const;
export type Locale = keyof typeof LOCALES;

declare module "use-intl" {
  interface AppConfig {
    Locale: Locale;
    Messages: Messages;
  }
}

/** The browser's first supported language, otherwise English. */
export function chooseLocale(wanted: readonly string[]): Locale {
  for (const tag of wanted) {
    const [language] = tag.toLowerCase().split("-");
    if (language === "pt") return "pt-BR";
    if (language === "es" || language === "en") return language;
  }
  return "en";
}

/** Loads one language. `AreaTexts` adds the texts of an area. */
export async function loadMessages(locale: Locale): Promise<Messages> {
  const first: FirstMessages =
    locale === "pt-BR"
      ? (await import("./messages/pt-br.ts")).ptBr
      : locale === "es"
        ? (await import("./messages/es.ts")).es
        : (await import("./messages/en.ts")).en;
  return first as Messages;
}

export type Area = keyof Areas;

type Loaders = {
  readonly [Name in Area]: Readonly<Record<Locale, () => Promise<Translated<Pick<Areas, Name>>>>>;
};

/** Texts of large areas, loaded with their pages. */
export const AREA_TEXTS: Loaders = {
  csv: {
    "pt-BR": () => import("./messages/pt-br/csv.ts").then(({ csv: texts }) => texts),
    en: () => import("./messages/en/csv.ts").then(({ csv: texts }) => texts),
    es: () => import("./messages/es/csv.ts").then(({ csv: texts }) => texts),
  },
  webhooks: {
    "pt-BR": () => import("./messages/pt-br/webhooks.ts").then(({ webhooks: texts }) => texts),
    en: () => import("./messages/en/webhooks.ts").then(({ webhooks: texts }) => texts),
    es: () => import("./messages/es/webhooks.ts").then(({ webhooks: texts }) => texts),
  },
  integrations: {
    "pt-BR": () => import("./messages/pt-br/integrations.ts").then(({ integrations: texts }) => texts),
    en: () => import("./messages/en/integrations.ts").then(({ integrations: texts }) => texts),
    es: () => import("./messages/es/integrations.ts").then(({ integrations: texts }) => texts),
  },
  pairing: {
    "pt-BR": () => import("./messages/pt-br/pairing.ts").then(({ pairing: texts }) => texts),
    en: () => import("./messages/en/pairing.ts").then(({ pairing: texts }) => texts),
    es: () => import("./messages/es/pairing.ts").then(({ pairing: texts }) => texts),
  },
};
