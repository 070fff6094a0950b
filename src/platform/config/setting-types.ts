import { z } from "zod";
import { parseAllowRule, parseSingleAddress } from "../outgoing/address-policy.ts";
import { parseCidr } from "../outgoing/ip-address.ts";
import { Secret } from "../secrets/secret.ts";

// Messages never repeat the value: some settings are secrets, and URLs carry passwords.

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WEAK_WORDS = [
  "changeme",
  "changethis",
  "example",
  "password",
  "replace",
  "secret",
  "waygate",
  "12345678",
];
const MIN_DISTINCT = 8;

/** A duration in milliseconds, written as plain seconds (`20`) or with a unit (`500ms`, `20s`, `15m`, `12h`, `7d`). */
export function duration(least: string, most: string) {
  const [min, max] = [parseDuration(least), parseDuration(most)];
  return z
    .string()
    .transform(parseDuration)
    .refine((ms) => ms >= min && ms <= max, {
      error: `must be a duration from ${least} to ${most}, such as 90, 90s or 500ms (plain numbers are seconds)`,
    });
}

/** A retention time in milliseconds: 0 (keep forever), or at least a day. */
export function retention() {
  return duration("0s", "3650d")
    .refine((ms) => ms === 0 || ms >= 86_400_000, { error: "must be 0 or at least a day, such as 365d" })
    .prefault("0");
}

export function durations(most: number, longest: string) {
  const max = parseDuration(longest);
  return list()
    .transform((texts) => texts.map(parseDuration))
    .refine((all) => all.length >= 1 && all.length <= most && all.every((ms) => ms > 0 && ms <= max), {
      error: `must be 1 to ${most} durations, comma-separated, each at most ${longest}, such as 5s,30s,2m`,
    });
}

/** A time of day in milliseconds after midnight; undefined for `off`. */
export function timeOfDay() {
  return z
    .string()
    .regex(/^(off|([01]\d|2[0-3]):[0-5]\d)$/, { error: "must be an hour such as 03:30, or off" })
    .transform((text) => {
      const [hours, minutes] = text.split(":").map(Number);
      return minutes === undefined ? undefined : ((hours ?? 0) * 60 + minutes) * 60_000;
    });
}

export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .transform((text) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN))
    .refine((number) => number >= min && number <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    });
}

export function flag() {
  return z
    .enum(["true", "1", "yes", "on", "false", "0", "no", "off"], { error: "must be true or false" })
    .transform((text) => ["true", "1", "yes", "on"].includes(text));
}

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `must be ${words.slice(0, -1).join(", ")} or ${words.at(-1)}` });
}

/** Comma-separated entries, trimmed, without empty ones. */
export function list() {
  return z.string().transform((text) =>
    text
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ""),
  );
}

/** One or more of the words, in the order of `words`, without duplicates. */
export function listOf<Word extends string>(words: readonly Word[]) {
  return list()
    .refine(
      (entries) => entries.length > 0 && entries.every((entry) => words.some((word) => word === entry)),
      {
        error: `must be one or more of ${words.join(", ")}, comma-separated`,
      },
    )
    .transform((entries) => words.filter((word) => entries.includes(word)));
}

export function allowRules() {
  return list().refine((entries) => entries.length > 0 && entries.every((entry) => parseAllowRule(entry)), {
    error:
      "must list external, private, loopback, addresses, CIDRs, host or *.host, each host with an optional :port",
  });
}

export function cidrs() {
  return list().refine((entries) => entries.every((entry) => parseCidr(entry)), {
    error: "must list addresses and CIDRs, such as 10.0.0.0/8 or 2001:db8::1",
  });
}

export function singleAddresses() {
  return list().refine((entries) => entries.every((entry) => parseSingleAddress(entry)), {
    error: "must list single addresses, such as 169.254.169.254 or 169.254.169.254/32",
  });
}

/** A URL with one of the schemes, as text, without a trailing slash. */
export function urlOf(...schemes: string[]) {
  const example = schemes.map((scheme) => `${scheme}://`).join(" or ");
  return z
    .string()
    .refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)), {
      error: ({ input }) =>
        schemes.some((scheme) => String(input).startsWith(`${scheme}://`))
          ? "is not a valid URL; percent-encode / # ? @ in its password (/ is %2F)"
          : `must be a URL that begins with ${example}`,
    })
    .transform((text) => text.replace(/(?<!\/)\/+$/, ""));
}

/** An http or https URL without a path, as text. */
export function originUrl() {
  return urlOf("http", "https").refine(isOrigin, {
    error:
      "must not have a path, a query or a user: give the gateway a host of its own, such as https://waygate.example.com, since its panel, sign-in and links use paths from /",
  });
}

/** Origins of web pages, exactly as browsers name them in the `Origin` header. */
export function webOrigins() {
  return list().refine((entries) => entries.every(isWebOrigin), {
    error:
      "must list origins such as https://app.example.com or http://localhost:5173, each without a path or a slash at its end; * is not allowed",
  });
}

function isWebOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { pathname, search, hash, username, password } = new URL(text);
  return pathname === "/" && [search, hash, username, password].every((part) => part === "");
}

/** A secret of at least `least` characters. */
export function secret(least: number) {
  return z
    .string()
    .refine((text) => text.length >= least, { error: `must have ${least} characters or more` })
    .transform((text) => new Secret(text));
}

/** A secret that protects other users: at least 32 characters, and not guessable. */
export function strongSecret() {
  return z
    .string()
    .refine((text) => text.length >= 32 && !isWeak(text), {
      error: "must be 32 or more random characters; make one with: openssl rand -base64 32",
    })
    .transform((text) => new Secret(text));
}

/** Whether a secret is guessable: few different characters, a common word, or a repeated part. */
export function isWeak(text: string): boolean {
  const letters = text.toLowerCase().replace(/[^a-z0-9]/g, "");
  return (
    new Set(text).size < MIN_DISTINCT ||
    WEAK_WORDS.some((word) => letters.includes(word)) ||
    // A text made of a repeated part occurs inside its own double at an offset below its length.
    `${text}${text}`.indexOf(text, 1) < text.length
  );
}

function parseDuration(text: string): number {
  const [, digits = "", unit = "s"] = /^(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)?$/.exec(text.trim()) ?? [];
  return digits === "" ? Number.NaN : Math.round(Number(digits) * (UNIT_MS[unit] ?? Number.NaN));
}
