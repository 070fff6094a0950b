import { chooseLocale, LOCALES, type Locale } from "./i18n/locales.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const LANGUAGE_KEY = "waygate.language";
const THEME_KEY = "waygate.theme";
const LETTERS_KEY = "waygate.letter-keys";

/** The saved language, otherwise the browser's. */
export function readLocale(): Locale {
  const chosen = read(LANGUAGE_KEY);
  return chosen !== null && chosen in LOCALES ? (chosen as Locale) : chooseLocale(navigator.languages);
}

export function saveLocale(locale: Locale): void {
  write(LANGUAGE_KEY, locale);
}

export function readTheme(): Theme {
  return THEMES.find((theme) => theme === read(THEME_KEY)) ?? "system";
}

/** Stores the theme and applies it. */
export function saveTheme(theme: Theme): void {
  write(THEME_KEY, theme);
  applyTheme(theme);
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Whether single-character shortcuts are on. */
export function readLetterKeys(): boolean {
  return read(LETTERS_KEY) !== "off";
}

export function saveLetterKeys(isOn: boolean): void {
  write(LETTERS_KEY, isOn ? "on" : "off");
}

// Storage may be blocked. The choice then lasts until the page closes.
function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {}
}
