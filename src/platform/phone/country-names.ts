import { type CountryCode, getCountries } from "libphonenumber-js/max";

const LANGUAGES = ["en", "pt", "es", "de", "fr", "it"] as const;

let codes: ReadonlyMap<string, CountryCode> | undefined;

/** The country with this code in ISO 3166-1 alpha-2, or this name in one of six languages. */
export function findCountryByName(name: string): CountryCode | undefined {
  codes ??= readNames();
  return codes.get(foldCountry(name));
}

function readNames(): ReadonlyMap<string, CountryCode> {
  const names = LANGUAGES.flatMap((language) =>
    (["long", "short"] as const).map((style) => new Intl.DisplayNames(language, { type: "region", style })),
  );
  const countries = getCountries();
  return new Map([
    ...names.flatMap((one) => countries.map((code) => [foldCountry(one.of(code) ?? code), code] as const)),
    ["usa", "US"],
    ...countries.map((code) => [foldCountry(code), code] as const),
  ]);
}

function foldCountry(name: string): string {
  return name.normalize("NFD").replace(/\P{L}/gu, "").toLowerCase();
}
