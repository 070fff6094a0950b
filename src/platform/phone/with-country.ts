import { FEWEST_DIGITS, foldSigns } from "./fold-phone-text.ts";

/** Its own country code, or that of an address, decides. */
const WHOLE = /^[^\d+]*(?:\+|00)|@|wa\.me|whatsapp|phone-context/i;
/** No national number is so long, with the exception of Indonesia. */
const LONG = /^\s*(?!0|8\d{11}\s*$)\d{12,}\s*$/;
const CALLING_CODE = /^(?:00)?([1-9]\d{0,2})$|\+ ?(\d+)/;

/**
 * A phone with the country that another cell or field names, which `readPhoneNumber` then reads as a number of that country
 * alone. `country` is a calling code, a code of ISO 3166-1 or a name. A phone with a country code stays as it is.
 */
export function withCountry(phone: string, country: string): string {
  const [number, place] = [
    foldSigns(phone),
    foldSigns(country)
      .replace(/[;'"=()]/g, " ")
      .trim(),
  ];
  const isWhole = WHOLE.test(number) || LONG.test(number);
  if (isWhole || number.replace(/\D/g, "").length < FEWEST_DIGITS || country.trim() === "") return phone;
  const [, plain, marked] = CALLING_CODE.exec(place) ?? [];
  const code = plain ?? marked;
  return `${phone};phone-context=${code === undefined ? place || "?" : `+${code}`}`;
}
