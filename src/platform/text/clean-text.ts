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

function clean(value: unknown, depth: number): unknown {
  if (typeof value === "string") {
    return cleanText(value);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (depth >= MAX_DEPTH) {
    throw new GatewayError("VALIDATION_ERROR", `The value is nested deeper than ${MAX_DEPTH} levels.`);
  }
  if (Array.isArray(value)) {
    return value.map((item) => clean(item, depth + 1));
  }
  if (!isPlain(value)) {
    return value;
  }
  // fromEntries defines own properties, so a key "__proto__" is only data.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleanText(key), clean(item, depth + 1)]),
  );
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
