import type { FoldedPhone } from "./fold-phone-text.ts";
import { isMobileNumber } from "./read-international-number.ts";

interface DocumentKind {
  name: string;
  /** ISO 3166-1 alpha-2. */
  country: string;
  pattern: RegExp;
  /** Digits at the end that are computed from the others. */
  checks: number;
  /** The weights of the digits, from the last one, are 2 up to this, again and again. */
  most: number;
  /** The check digit for 11 less the remainder by 11. */
  toCheck(value: number): number;
}

const zeroAbove9 = (value: number) => (value > 9 ? 0 : value);

/** Numbers of people and companies that lists have beside phones, and that are as long as a phone of another country. */
const DOCUMENTS: readonly DocumentKind[] = [
  { name: "CPF", country: "BR", pattern: /^\d{11}$/, checks: 2, most: 11, toCheck: zeroAbove9 },
  { name: "CNPJ", country: "BR", pattern: /^\d{14}$/, checks: 2, most: 9, toCheck: zeroAbove9 },
  {
    name: "CUIT",
    country: "AR",
    pattern: /^2[0347]\d{9}$/,
    checks: 1,
    most: 7,
    toCheck: (value) => (value === 10 ? 9 : value % 11),
  },
];

/** A date with digits behind it, such as the number of an order. */
const DATES = [
  /^(?<year>(?:19|20)\d\d)(?<month>0[1-9]|1[0-2])(?<day>0[1-9]|[12]\d|3[01])\d/,
  /^(?<day>0[1-9]|[12]\d|3[01])(?<month>0[1-9]|1[0-2])(?<year>(?:19|20)\d\d)\d/,
];
const DATE_SIGNS = /^(?:\d{4}[-./]\d\d[-./]\d\d|\d\d[-./]\d\d[-./]\d{4})(?!\d)/;
/** A date alone, also with the month before the day. */
const DATE_ALONE =
  /^(?:(?:19|20)\d\d([-./])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])|(?:0?[1-9]|[12]\d|3[01])([-./])(?:0?[1-9]|[12]\d|3[01])\2(?:19|20)\d\d)$/;

/** Whether a country can decide that digits without a plus are no phone. */
export function mayMeanOther({ digits, isInternational }: FoldedPhone): boolean {
  return (
    !isInternational && (findDate(digits) !== undefined || DOCUMENTS.some((kind) => isOfKind(digits, kind)))
  );
}

/** What a text with the signs of a date, or with the points and the dash of a CPF, may be instead of a phone. */
export function findWrittenMeaning({ written }: FoldedPhone): string | undefined {
  if (/^\d{3}\.\d{3}\.\d{3}-\d\d$/.test(written)) return "CPF";
  return DATE_ALONE.test(written) ? written : undefined;
}

/**
 * What digits without a plus may be instead of that phone: a document of this country, as its check digits say, or an
 * identifier that begins with a date.
 */
export function findOtherMeaning(
  folded: FoldedPhone,
  phone: string,
  country: string | undefined,
): string | undefined {
  const { digits, written, isPunctuated } = folded;
  const other = findWrittenMeaning(folded);
  if (other !== undefined) return other;
  const isDate = DATE_SIGNS.test(written);
  if (isPunctuated && !isDate) return undefined;
  const document = DOCUMENTS.find((kind) => kind.country === country && isOfKind(digits, kind));
  // Mobiles of Egypt begin like a date.
  return document?.name ?? (isDate || !isMobileNumber(phone) ? findDate(digits) : undefined);
}

function findDate(digits: string): string | undefined {
  const found = DATES.map((pattern) => pattern.exec(digits)?.groups).find((parts) => parts !== undefined);
  return found && `${found.year}-${found.month}-${found.day}`;
}

function isOfKind(digits: string, kind: DocumentKind): boolean {
  return kind.pattern.test(digits) && isChecked(digits, kind);
}

function isChecked(digits: string, { checks, most, toCheck }: DocumentKind): boolean {
  return Array.from({ length: checks }, (_, at) => digits.length - checks + at).every((at) => {
    const sum = [...digits.slice(0, at)]
      .reverse()
      .reduce((total, digit, nth) => total + Number(digit) * (2 + (nth % (most - 1))), 0);
    return toCheck(11 - (sum % 11)) === Number(digits[at]);
  });
}
