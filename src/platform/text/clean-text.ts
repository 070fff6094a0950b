import { GatewayError } from "../gateway-error.ts";

const DIRTY = /\0|\p{Surrogate}/u;
const LONE_SURROGATE = /\p{Surrogate}/gu;
const MAX_DEPTH = 100;

/** Text that PostgreSQL accepts: removes U+0000 and replaces a lone surrogate by U+FFFD. */
export function cleanText(text: string): string {
  return DIRTY.test(text) ? text.replaceAll("\0", "").replace(LONE_SURROGATE, "\uFFFD") : text;
}

/**
 * A copy of a JSON value with every text and key cleaned; dates, buffers and other class instances stay
 * unchanged. Throws VALIDATION_ERROR for a value nested deeper than 100 levels.
 */
export function cleanJson<T>(value: T): T {
  return clean(value, 0) as T;
}

/** As `cleanJson`; names lose the characters that reorder or hide what is beside them. */
export function cleanFromNetwork<T>(value: T): T {
  return clean(value, 0, cleanNamed) as T;
}

const NAMES = new Set(["push_name", "verified_name", "name", "subject", "title", "file_name"]);
const NULLABLE_NAMES = new Set(["push_name", "verified_name"]);
/** Format characters but for the joiners of Persian and Indian scripts and of emoji, and the tags of flags. */
const MISLEADING = /(?!\u200c|\u200d|[\u{e0020}-\u{e007f}])[\p{Cf}\p{Cc}]/gu;
/** Neither invisible nor one of the letters that are drawn as a blank. */
const VISIBLE = /[^\p{C}\p{Z}\p{M}\u115f\u1160\u2800\u3164\uffa0]/u;

function cleanNamed(key: string, text: string): string | null {
  if (!NAMES.has(key)) return text;
  const name = text.replace(/\s+/g, " ").replace(MISLEADING, "").trim();
  if (VISIBLE.test(name)) return name;
  return NULLABLE_NAMES.has(key) ? null : text;
}

type Rule = (key: string, text: string) => string | null;

function clean(value: unknown, depth: number, rule?: Rule, ofKey = ""): unknown {
  if (typeof value === "string") {
    const text = cleanText(value);
    return rule ? rule(ofKey, text) : text;
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (depth >= MAX_DEPTH) {
    throw new GatewayError("VALIDATION_ERROR", `The value is nested deeper than ${MAX_DEPTH} levels.`);
  }
  if (Array.isArray(value)) {
    return value.map((item) => clean(item, depth + 1, rule));
  }
  if (!isPlain(value)) {
    return value;
  }
  // fromEntries defines own properties, so a key "__proto__" is only data.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleanText(key), clean(item, depth + 1, rule, key)]),
  );
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
