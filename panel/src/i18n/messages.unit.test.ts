import { describe, expect, test } from "vitest";
import { AREA_TEXTS, type Area, chooseLocale, type Locale } from "./locales.ts";
import { en } from "./messages/en.ts";
import { es } from "./messages/es.ts";
import { ptBr } from "./messages/pt-br.ts";

function flatten(texts: object, path = ""): Map<string, string> {
  const entries = Object.entries(texts).flatMap(([key, value]): [string, string][] =>
    typeof value === "string" ? [[`${path}${key}`, value]] : [...flatten(value, `${path}${key}.`)],
  );
  return new Map(entries);
}

/** Arguments and elements of a text, each once, without the branches of a plural such as `one {gets}`. */
function holesOf(text: string): string[] {
  const found = [...text.matchAll(/(?<!\b(?:one|other) )\{(\w+)[,}]|<(\w+)>/g)].map(
    ([, argument, element]) => argument ?? element,
  );
  return [...new Set(found)].map(String).sort();
}

const AREAS = Object.keys(AREA_TEXTS) as Area[];

async function wholeOf(first: object, locale: Locale): Promise<Map<string, string>> {
  const areas = await Promise.all(AREAS.map((area) => AREA_TEXTS[area][locale]()));
  return flatten(Object.assign({}, first, ...areas));
}

const source = await wholeOf(en, "en");

describe.each([
  ["pt-BR", await wholeOf(ptBr, "pt-BR")],
  ["es", await wholeOf(es, "es")],
])("the texts in %s", (_, translated) => {
  test("have the keys of the English ones", () => {
    expect([...translated.keys()].sort()).toEqual([...source.keys()].sort());
    expect([...translated.values()].filter((text) => text.trim() === "")).toEqual([]);
  });

  test("are filled in with the same values", () => {
    const different = [...source].filter(
      ([key, text]) => holesOf(translated.get(key) ?? "").join() !== holesOf(text).join(),
    );
    expect(different.map(([key]) => key)).toEqual([]);
  });
});

/** "usted", its imperatives, and "la pasarela". */
const FORMAL_SPANISH = [
  /(?<!\p{L})(pasarelas?|ustedes|usted|su atención|le necesit[ae]|le ve)(?!\p{L})/iu,
  /(?<!\p{L})(Abra|Active|Añada|Busque|Compruebe|Copie|Elija|Escanee|Escriba|Filtre|Guarde|Haga|Inicie|Intente|Lea|Mire|Pida|Ponga|Pruebe|Pulse|Reenvíe|Repare|Revise|Toque|Vea|Vincule)(?!\p{L})/u,
  /(?<!\p{L})(busque|compruebe|elija|pulse|reenvíe|revise)(?!\p{L})/u,
  /(?<!\p{L})(léa|guárde|vincúle|inténte|muéstre|cópie|déje|envíe|escanée|elíja|ábra|pruébe)(l[aeo]s?)(?!\p{L})/iu,
];

test("the Spanish texts use tú and el gateway", async () => {
  const isFormal = (text: string) => FORMAL_SPANISH.some((words) => words.test(text));
  expect([...(await wholeOf(es, "es"))].filter(([, text]) => isFormal(text))).toEqual([]);
  expect(isFormal("Léalo en el teléfono.")).toBe(true);
});

test.each([
  ["pt-BR", await wholeOf(ptBr, "pt-BR")],
  ["es", await wholeOf(es, "es")],
])("a text beside nouns of both genders has no gender in %s", (_, texts) => {
  const shared = ["common.none", "common.all", "webhooks.facts.never"].map((key) => texts.get(key));
  const gendered = /^(ningun[oa]|nenhuma?|tod[oa]s)$/i;
  expect(shared.filter((text) => text === undefined || gendered.test(text))).toEqual([]);
});

test.each([
  ["en", await wholeOf(en, "en")],
  ["pt-BR", await wholeOf(ptBr, "pt-BR")],
  ["es", await wholeOf(es, "es")],
])("a person in the CRM is a contact and no lead in %s", (_, texts) => {
  expect([...texts].filter(([, text]) => /\bleads?\b/i.test(text))).toEqual([]);
});

test("the panel uses the browser's first supported language", () => {
  expect(chooseLocale(["fr-CA", "pt-PT", "en"])).toBe("pt-BR");
  expect(chooseLocale(["es-419"])).toBe("es");
  expect(chooseLocale(["de"])).toBe("en");
  expect(chooseLocale([])).toBe("en");
});
