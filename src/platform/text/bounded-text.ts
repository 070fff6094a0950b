import { z } from "zod";
import { rule } from "../issue-codes.ts";

/** The longest text that Node can hold. */
const LONGEST_TEXT = 536_870_888;

/**
 * A text of at most `max` characters. Unlike a plain `.max()`, a longer text fails at once: no later pattern,
 * refinement or transformation reads it.
 */
export function boundedText(max: number, error = `is longer than ${max} characters`): z.ZodString {
  return z.string().max(max, { error, abort: true });
}

/** Like `boundedText`, after trimming spaces. */
export function trimmedText(max: number, error = `is longer than ${max} characters`): z.ZodString {
  return z.string().trim().max(max, { error, abort: true });
}

/** Like `trimmedText`, but also accepts a number. */
export function coercedText(max: number, error = `is longer than ${max} characters`) {
  return z.coerce.string().trim().max(max, { error, abort: true });
}

/** A file in base64, or its URL: as long as any text can be. The body limit bounds it further. */
export function fileText(): z.ZodString {
  return boundedText(LONGEST_TEXT);
}

/** The name of a time zone that the clock of this machine knows. */
export function timeZoneText() {
  return boundedText(64).refine(
    isTimeZone,
    rule("is not a time zone such as America/Sao_Paulo", "not_a_time_zone"),
  );
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** A country as ISO 3166-1 alpha-2. */
export function countryCode() {
  return boundedText(2, NO_COUNTRY).toUpperCase().refine(isCountry, rule(NO_COUNTRY, "not_a_country"));
}

const NO_COUNTRY = "must be the code of a country in ISO 3166, such as BR, or GB for the United Kingdom";
const COUNTRIES = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** Codes of Unicode that are no country. */
const NOT_COUNTRIES = ["EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"];

/** Former codes and other spellings, such as UK, have another one in their locale. */
function isCountry(code: string): boolean {
  if (!/^[A-Z]{2}$/.test(code) || NOT_COUNTRIES.includes(code)) return false;
  return COUNTRIES.of(code) !== undefined && new Intl.Locale(`und-${code}`).region === code;
}

/** The message for a value that fits no branch of a union; an absent value is required. */
export function unionErrorMessage(advice: string) {
  return { error: ({ input }: { input?: unknown }) => (input === undefined ? "is required" : advice) };
}
