import { parsePhoneNumberFromString } from "libphonenumber-js/min";

/** Fewer digits can start many numbers, and more exist in no national number. */
const FEWEST = 8;
const MOST_NATIONAL = 11;
const LONGEST_CHECKED = 13;

/** Whether no digits could follow that make the number international. */
export function lacksCountryCode(typed: string): boolean {
  const text = typed.trim();
  const bare = text.replace(/[+()\-.\s]/g, "");
  if (!/^\d{2,20}$/.test(bare)) return false;
  const isMarked = text.startsWith("+") || bare.startsWith("00");
  const digits = isMarked ? bare.replace(/^00/, "") : bare;
  if (digits.startsWith("0")) return true;
  if (isMarked || digits.length < FEWEST || digits.length > MOST_NATIONAL) return false;
  return !canBecomeInternational(digits);
}

/** Tries the number itself and, up to the maximum length, with each digit repeated after it. */
function canBecomeInternational(digits: string): boolean {
  const lengths = Array.from({ length: LONGEST_CHECKED - digits.length + 1 }, (_, more) => more);
  return lengths.some((more) => [..."0123456789"].some((digit) => isValid(digits + digit.repeat(more))));
}

function isValid(digits: string): boolean {
  return parsePhoneNumberFromString(`+${digits}`)?.isValid() === true;
}
