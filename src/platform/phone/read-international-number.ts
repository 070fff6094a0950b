import { parsePhoneNumberFromString } from "libphonenumber-js/max";
import { MOST_DIGITS } from "./fold-phone-text.ts";
import { alternativeNumber, canonicalNumberOf } from "./number-variants.ts";

export interface InternationalNumber {
  digits: string;
  /** Some country has assigned it; otherwise only its length is right. */
  isValid: boolean;
}

/** North America keeps area code 555 for numbers that are nobody's. */
const NOBODYS = /^1555\d{7}$/;
/** No area code of North America begins with 0 or 1. */
const NO_AREA = /^1[01]/;

/** The digits as a number with its country code; undefined for one that no country can have. */
export function readInternationalNumber(digits: string): InternationalNumber | undefined {
  const parsed = parsePhoneNumberFromString(`+${digits}`);
  const other = alternativeNumber(digits);
  const standard = parsed?.number.slice(1) ?? "";
  // libphonenumber adds the area code of a country that has only one.
  if (parsed?.isValid() && standard.length <= Math.min(digits.length, MOST_DIGITS)) {
    // The given format stays: the network may know the person by either.
    return { digits: isSamePerson(standard, digits) ? digits : standard, isValid: true };
  }
  if (NOBODYS.test(digits)) return { digits, isValid: true };
  if (other !== undefined && parsePhoneNumberFromString(`+${other}`)?.isValid())
    return { digits, isValid: true };
  const withoutZero = parsed && withoutTrunkZero(digits, parsed.countryCallingCode);
  if (withoutZero !== undefined) return { digits: withoutZero, isValid: true };
  const isPossible = parsed?.isPossible() && standard.length <= digits.length && !NO_AREA.test(digits);
  return isPossible && standard.length <= MOST_DIGITS ? { digits: standard, isValid: false } : undefined;
}

/** People write a zero in front of the area code also for countries that dial none. */
function withoutTrunkZero(digits: string, callingCode: string): string | undefined {
  const national = digits.slice(callingCode.length);
  if (!/^0[1-9]/.test(national) || digits.length - 1 > MOST_DIGITS) return undefined;
  const others = callingCode + national.slice(1);
  return parsePhoneNumberFromString(`+${others}`)?.isValid() ? others : undefined;
}

export function isSamePerson(one: string, other: string): boolean {
  return canonicalNumberOf(one) === canonicalNumberOf(other);
}

/** Of a country whose fixed lines have other digits. */
export function isMobileNumber(digits: string): boolean {
  return parsePhoneNumberFromString(`+${digits}`)?.getType() === "MOBILE";
}
