import { FEWEST_DIGITS, MOST_DIGITS, MOST_NATIONAL, type PhoneProblem } from "./fold-phone-text.ts";

const EXAMPLE = "for example +5511999990004";

/** What is wrong with digits that are no number, written with or without the code of a country. */
export function problemOfDigits(
  digits: string,
  isInternational: boolean,
  country?: { code: string; isSet: boolean },
): PhoneProblem {
  if (digits.length < FEWEST_DIGITS)
    return {
      code: "too_short",
      params: { min: FEWEST_DIGITS },
      issue: `must have ${FEWEST_DIGITS} to ${MOST_DIGITS} digits, with country and area code`,
    };
  if (digits.length > MOST_DIGITS)
    return {
      code: "too_long",
      params: { max: MOST_DIGITS },
      issue: `must have ${FEWEST_DIGITS} to ${MOST_DIGITS} digits, with country and area code`,
    };
  if (isInternational || (digits.length > MOST_NATIONAL && !digits.startsWith("0")))
    return {
      code: "impossible_number",
      params: {},
      issue: `is not a number of any country. Check its digits, ${EXAMPLE}`,
    };
  if (country?.isSet)
    return {
      code: "no_country_code",
      params: { country: country.code },
      issue: `has no country code, and is not a number of ${country.code}. Send it in international format, ${EXAMPLE}`,
    };
  return {
    code: "no_country_code",
    params: {},
    issue: `has no country code. Send it in international format, ${EXAMPLE}, or set the default country`,
  };
}
