import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from "libphonenumber-js/max";
import type { ValueIssue } from "../issue-codes.ts";
import { findCountryByName } from "./country-names.ts";
import { findOtherMeaning, findWrittenMeaning, mayMeanOther } from "./find-other-meaning.ts";
import {
  FEWEST_DIGITS,
  type FoldedPhone,
  foldPhoneText,
  MOST_DIGITS,
  MOST_NATIONAL,
  type PhoneHead,
  severalNumbers,
} from "./fold-phone-text.ts";
import { problemOfDigits } from "./problem-of-digits.ts";
import { isMobileNumber, isSamePerson, readInternationalNumber } from "./read-international-number.ts";

/** The country of a number that is written without one. */
export interface PhoneCountry {
  /** ISO 3166-1 alpha-2. */
  code: string;
  /** A setting names the country; otherwise it is a guess, which a person must confirm. */
  isSet: boolean;
  /** Bare digits that are the whole number of a known person. */
  known?: ReadonlySet<string>;
}

/** A number with its country code. */
export interface CertainNumber {
  is: "number";
  digits: string;
}

/** A number whose country is not written, or digits that can be another number, or none. */
export interface AssumedNumber extends ValueIssue {
  is: "assumed";
  code: "assumed_country" | "no_country_code" | "ambiguous_country" | "ambiguous_number";
  /** The digits that a send may use without a confirmation. */
  digits: string | null;
  /** The digits with the country code that was assumed. */
  suggestion: string;
}

export interface RefusedNumber extends ValueIssue {
  is: "refused";
  /** Bare digits that are no phone number, and so may be a LID. */
  lid: string | null;
}

export type PhoneReading = CertainNumber | AssumedNumber | RefusedNumber;

/** People with fewer digits as their LID are not known. */
export const SHORTEST_LID = 14;
const MOST_OF_FIXED_LINE = 10;
/** But mobiles of Indonesia can have twelve, which are also numbers of Korea, Japan and China. */
const LONG_NATIONAL = /^8\d{11}$/;

/** Reads a phone number in any notation. It never has digits that the text and its country's code do not spell. */
export function readPhoneNumber(text: string, country?: PhoneCountry): PhoneReading {
  const folded = foldPhoneText(text);
  if ("code" in folded) return { is: "refused", ...folded, lid: null };
  const { context, ...others } = folded;
  const named = context === undefined || folded.isInternational ? undefined : findCountryByName(context);
  return named ? readAtHome(others, named) : readFolded(folded, country);
}

/** A number beside the name of its country, which is no assumption then. */
function readAtHome(folded: FoldedPhone, code: CountryCode): PhoneReading {
  const reading = readFolded(folded, { code, isSet: true });
  const isNational = reading.is === "assumed" && reading.code === "assumed_country";
  return isNational ? { is: "number", digits: reading.suggestion } : reading;
}

function readFolded(folded: FoldedPhone, country?: PhoneCountry): PhoneReading {
  const given = folded.context === undefined ? country : countryOfContext(folded.context);
  const known = given && isSupportedCountry(given.code) ? given : undefined;
  const head = findWholeHead(folded, known);
  if (head) return { is: "refused", ...head.problem, lid: null };
  if (isLocal(folded)) return readLocal(folded, folded.context, known);
  const reading = folded.isInternational ? readMarked(folded, known) : readUnmarked(folded, known);
  if (isListed(folded, reading, known)) return { is: "refused", ...severalNumbers(), lid: null };
  return reading ?? refuse(folded, known);
}

/** Whether the country decides what the text means, as it does for a number without its country code. */
export function dependsOnCountry(text: string): boolean {
  const folded = foldPhoneText(text);
  if ("code" in folded || isLocal(folded)) return false;
  if (folded.listed) return true;
  const { digits, isInternational } = folded;
  const isLong = !isInternational && !digits.startsWith("0") && isTooLong(digits) && !mayMeanOther(folded);
  return !((isInternational || isLong) && readInternationalNumber(digits)?.isValid);
}

/** For a number without its country code. */
function isTooLong(digits: string): boolean {
  return digits.length > MOST_NATIONAL && !LONG_NATIONAL.test(digits);
}

/** The country of a whole number, as ISO 3166-1 alpha-2. */
export function countryOfPhone(digits: string): string | undefined {
  return parsePhoneNumberFromString(`+${digits}`)?.country;
}

/** Whether the digits are no valid phone in any country, and so may be a LID; a real phone never counts as one. */
export function isImpossiblePhone(digits: string): boolean {
  return !readInternationalNumber(digits)?.isValid;
}

/** A stored phone so that every reader takes it as a whole number; the digits of a LID, and other texts, as they are. */
export function writePhone(phone: string): string {
  const isWhole = /^\d+$/.test(phone) && (phone.length < SHORTEST_LID || !isImpossiblePhone(phone));
  return isWhole ? `+${phone}` : phone;
}

interface NationalNumber {
  digits: string;
  isMobile: boolean;
}

/** The number as people of that country dial it; undefined for one that is not valid there. */
function readNational(digits: string, { code }: PhoneCountry): NationalNumber | undefined {
  const parsed = parsePhoneNumberFromString(digits, code as CountryCode);
  const type = parsed?.getType();
  if (!parsed || type === undefined || parsed.nationalNumber.length > digits.length) return undefined;
  // Germany has assigned whatever begins like one of its fixed lines.
  if (isTooLong(parsed.nationalNumber)) return undefined;
  return { digits: parsed.number.slice(1), isMobile: type === "MOBILE" || type === "FIXED_LINE_OR_MOBILE" };
}

/** The first part of the text that is a valid number by itself, while the rest is no group of the valid whole. */
function findWholeHead(folded: FoldedPhone, country?: PhoneCountry): PhoneHead | undefined {
  const isLong = folded.isInternational || isTooLong(folded.digits);
  const home = isLong && readInternationalNumber(folded.digits)?.isValid ? undefined : country;
  const all = readWhole(folded.digits, isLong, home);
  return folded.heads.find(({ digits, group, isGrouped, isMobile }) => {
    const head = readWhole(digits, isLong, home);
    if (head === undefined || (isMobile && !isMobileNumber(head))) return false;
    return all === undefined || !(isGrouped || (group !== undefined && endsWithGroup(all, group)));
  });
}

/** The number as some country has assigned it, or the known one. */
function readWhole(digits: string, isLong: boolean, country?: PhoneCountry): string | undefined {
  const abroad = isLong || !country ? readInternationalNumber(digits) : undefined;
  return abroad?.isValid ? abroad.digits : country && readNational(digits, country)?.digits;
}

/** Whether people of its country set these digits apart. */
function endsWithGroup(digits: string, group: string): boolean {
  return parsePhoneNumberFromString(`+${digits}`)?.formatInternational().endsWith(` ${group}`) ?? false;
}

/** Whether the text is a number of a list with another person's number behind it. */
function isListed({ listed }: FoldedPhone, reading?: PhoneReading, country?: PhoneCountry): boolean {
  // Without a country nobody knows what the rest is.
  if (listed && !listed.isMobile && !country) return true;
  const own = listed && readWhole(listed.digits, isTooLong(listed.digits), country);
  // `2. 010-1234-5678` is Egyptian only together with the number of its line.
  if (listed && !own && !listed.isMobile && reading?.is === "number") return true;
  if (!own || (listed.isMobile && !isMobileNumber(own))) return false;
  const all = reading?.is === "number" ? reading.digits : reading?.is === "assumed" ? reading.suggestion : "";
  return !isSamePerson(own, all);
}

type LocalNumber = FoldedPhone & { context: string };

function isLocal(folded: FoldedPhone): folded is LocalNumber {
  return folded.context !== undefined && !folded.isInternational;
}

function countryOfContext(context: string): PhoneCountry | undefined {
  const code = getCountries().find((one) => `+${getCountryCallingCode(one)}` === context);
  return code && { code, isSet: true };
}

/** A longer context, such as `+1914`, may be no prefix of the whole number. */
function readLocal(folded: LocalNumber, context: string, country?: PhoneCountry): PhoneReading {
  const { digits, listed } = folded;
  const national = country && readNational(digits, country);
  if (national && listed && readWhole(listed.digits, false, country))
    return { is: "refused", ...severalNumbers(), lid: null };
  const meaning = findWrittenMeaning(folded);
  if (national && meaning !== undefined) return ambiguousNumber(national.digits, meaning, false);
  if (national) return { is: "number", digits: national.digits };
  return {
    is: "refused",
    code: "unknown_context",
    params: { context },
    issue: `is not a number of the country ${JSON.stringify(context)}. Write it with + and the country code`,
    lid: null,
  };
}

/** Written with a plus or 00. */
function readMarked(folded: FoldedPhone, country?: PhoneCountry): PhoneReading | undefined {
  const { digits } = folded;
  const written = readInternationalNumber(digits);
  if (written?.isValid) return { is: "number", digits: written.digits };
  const national = country && readNational(digits, country);
  if (country && national) return lacksCountry(country, national.digits);
  return written && isJoined(folded) ? { is: "number", digits: written.digits } : undefined;
}

/** Signs between the digits may join what is no number, so then some country must have assigned it. */
function isJoined({ written }: FoldedPhone): boolean {
  return /^\+?\d+$/.test(written);
}

/** Written without a plus: unless it has the code of the country, it may also be no phone at all. */
function readUnmarked(folded: FoldedPhone, country?: PhoneCountry): PhoneReading | undefined {
  const reading = readPlain(folded, country);
  if (!reading || reading.is === "refused") return reading;
  const isWhole = reading.is === "number";
  const isClear = isWhole ? country && isOfCountry(reading.digits, country) : !folded.digits.startsWith("0");
  if (isClear && findWrittenMeaning(folded) === undefined) return reading;
  const digits = isWhole ? reading.digits : reading.suggestion;
  const meaning = findOtherMeaning(folded, digits, country?.code);
  if (meaning === undefined) return reading;
  return ambiguousNumber(digits, meaning, isWhole && !country?.isSet && !folded.isPunctuated);
}

/** Written without a plus: the country code may be there or not. */
function readPlain(folded: FoldedPhone, country?: PhoneCountry): PhoneReading | undefined {
  const { digits } = folded;
  if (digits.length < FEWEST_DIGITS || digits.length > MOST_DIGITS) return undefined;
  const written = digits.startsWith("0") ? undefined : readInternationalNumber(digits);
  const asWritten: CertainNumber | undefined = written && { is: "number", digits: written.digits };
  if (written?.isValid && isTooLong(digits)) return asWritten;
  const national = country && readNational(digits, country);
  if (country && national && written?.isValid)
    return chooseCountry(folded, written.digits, national, country);
  if (country && national) return withCountryCode(national.digits, country);
  const isTaken = written?.isValid || (digits.length > MOST_NATIONAL && isJoined(folded));
  return isTaken ? asWritten : undefined;
}

/** Both readings are valid. A fixed line has nearly any digits in some countries, so a long one does not count. */
function chooseCountry(
  { digits, isBare, isPunctuated }: FoldedPhone,
  written: string,
  national: NationalNumber,
  country: PhoneCountry,
): PhoneReading {
  const isKnown = isBare && digits === written && country.known?.has(digits);
  const isOther = national.isMobile || written.length <= MOST_OF_FIXED_LINE;
  return isOther && !isKnown && !isSamePerson(national.digits, written)
    ? ambiguous({ ...country, isSet: country.isSet || isPunctuated }, national.digits, written)
    : { is: "number", digits: written };
}

function withCountryCode(national: string, country: PhoneCountry): PhoneReading {
  if (!country.isSet) return lacksCountry(country, national);
  // Otherwise the country only told which digits mean "abroad".
  return isOfCountry(national, country) ? assume(country, national) : { is: "number", digits: national };
}

function isOfCountry(digits: string, { code }: PhoneCountry): boolean {
  return digits.startsWith(getCountryCallingCode(code as CountryCode));
}

function assume({ code: country }: PhoneCountry, national: string): AssumedNumber {
  return {
    is: "assumed",
    code: "assumed_country",
    params: { country, suggestion: `+${national}` },
    issue: `has no country code, and is +${national} in ${country}`,
    digits: national,
    suggestion: national,
  };
}

function lacksCountry({ code: country }: PhoneCountry, national: string): AssumedNumber {
  return {
    ...assume({ code: country, isSet: false }, national),
    code: "no_country_code",
    issue: `has no country code. Send it in international format, such as +${national} if it is a number of ${country}, or set the default country`,
    digits: null,
  };
}

/** Without a setting, a send takes bare digits as they are: they are a full number. */
function ambiguous({ code: country, isSet }: PhoneCountry, national: string, written: string): AssumedNumber {
  return {
    ...assume({ code: country, isSet }, national),
    code: "ambiguous_country",
    params: { country, suggestion: `+${national}`, as_written: `+${written}` },
    issue: `can be +${written}, or +${national} in ${country}. Write it with + and the country code`,
    digits: isSet ? null : written,
  };
}

/** Without a setting, a send takes bare digits as they are here, too. */
function ambiguousNumber(digits: string, meaning: string, isTaken: boolean): AssumedNumber {
  return {
    is: "assumed",
    code: "ambiguous_number",
    params: { as_written: `+${digits}`, meaning },
    issue: `can be +${digits}, or ${meaning}. If it is a phone number, write it with + and the country code`,
    digits: isTaken ? digits : null,
    suggestion: digits,
  };
}

function refuse({ digits, isInternational, isBare }: FoldedPhone, country?: PhoneCountry): RefusedNumber {
  const isLid = isBare && !digits.startsWith("0") && digits.length >= SHORTEST_LID;
  const lid = isLid && digits.length <= MOST_DIGITS ? digits : null;
  return { is: "refused", ...problemOfDigits(digits, isInternational, country), lid };
}
