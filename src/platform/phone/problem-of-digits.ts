import { type ValueIssue, valueIssue } from "../issue-codes.ts";
import { FEWEST_DIGITS, MOST_DIGITS, MOST_NATIONAL } from "./fold-phone-text.ts";

const EXAMPLE = "for example +5511999990004";
const WRONG_LENGTH = `must have ${FEWEST_DIGITS} to ${MOST_DIGITS} digits, with country and area code`;

/** What is wrong with digits that are no number, written with or without the code of a country. */
export function problemOfDigits(
  digits: string,
  isInternational: boolean,
  country?: { code: string; isSet: boolean },
): ValueIssue {
  if (digits.length < FEWEST_DIGITS) return valueIssue(WRONG_LENGTH, "too_short", { min: FEWEST_DIGITS });
  if (digits.length > MOST_DIGITS) return valueIssue(WRONG_LENGTH, "too_long", { max: MOST_DIGITS });
  if (isInternational || (digits.length > MOST_NATIONAL && !digits.startsWith("0")))
    return valueIssue(`is not a number of any country. Check its digits, ${EXAMPLE}`, "impossible_number");
  if (country?.isSet)
    return valueIssue(
      `has no country code, and is not a number of ${country.code}. Send it in international format, ${EXAMPLE}`,
      "no_country_code",
      { country: country.code },
    );
  return valueIssue(
    `has no country code. Send it in international format, ${EXAMPLE}, or set the default country`,
    "no_country_code",
  );
}
