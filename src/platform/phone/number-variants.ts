import { foldSigns } from "./fold-phone-text.ts";

/** Mobile numbers of Brazil (55, two digits of area), Mexico (52) and Argentina (54) have two formats. */
const FORMATS: readonly { long: RegExp; short: RegExp; mark: string }[] = [
  { long: /^(55[1-9]{2})9([6-9]\d{7})$/, short: /^(55[1-9]{2})([6-9]\d{7})$/, mark: "9" },
  { long: /^(52)1(\d{10})$/, short: /^(52)(\d{10})$/, mark: "1" },
  { long: /^(54)9(\d{10})$/, short: /^(54)(\d{10})$/, mark: "9" },
];

/** The other format of a number; undefined for a number that has only one. */
export function alternativeNumber(digits: string): string | undefined {
  for (const { long, short, mark } of FORMATS) {
    const [, area, rest] = long.exec(digits) ?? [];
    if (area && rest) return area + rest;
    const [, bareArea, bareLocal] = short.exec(digits) ?? [];
    if (bareArea && bareLocal) return bareArea + mark + bareLocal;
  }
  return undefined;
}

/** All formats of a number, the given one first. */
export function numberVariantsOf(digits: string): string[] {
  const other = alternativeNumber(digits);
  return other === undefined ? [digits] : [digits, other];
}

/** One key for all formats of a number; the database's `canonical_number` computes the same. */
export function canonicalNumberOf(digits: string): string {
  return numberVariantsOf(digits).toSorted()[0] ?? digits;
}

/**
 * The numbers that a search text can mean, in any notation: with blanks and signs, with the prefix 00, as an
 * address, in either format. Empty for a text that is no number.
 */
export function searchedNumbers(text: string): string[] {
  const typed = foldSigns(text)
    .trim()
    .replace(/@(?:s\.whatsapp\.net|c\.us|lid)$/i, "")
    .replace(/[\s().+-]/g, "");
  const digits = typed.replace(/^00(?=\d{7})/, "");
  return /^\d{2,}$/.test(digits) ? numberVariantsOf(digits) : [];
}
