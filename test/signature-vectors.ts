import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./source-files.ts";

/** A text, or a short one repeated many times. */
type HeaderText = string | { repeat: string; times: number };
/** A list is a header that arrives several times. */
export type HeaderValue = HeaderText | readonly HeaderText[];

/** A request with a webhook, and whether a verifier accepts it at the time `now`. */
export interface SignatureVector {
  about: string;
  valid: boolean;
  secret: string;
  /** Seconds since 1970. */
  now: number;
  headers: Readonly<Record<string, HeaderValue>>;
  /** The raw body is this text, `times` times, in UTF-8. */
  body: string;
  times: number;
}

export const VECTORS_FILE = join(ROOT, "docs/reference/events/signature-vectors.json");

export function readSignatureVectors(): SignatureVector[] {
  return JSON.parse(readFileSync(VECTORS_FILE, "utf8"));
}

/** The headers of a vector as a server passes them on; of a repeated header all values. */
export function headersOf({ headers }: SignatureVector): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(textOf) : textOf(value as HeaderText),
    ]),
  );
}

function textOf(value: HeaderText): string {
  return typeof value === "string" ? value : value.repeat.repeat(value.times);
}
