import { GatewayError } from "../../gateway-error.ts";
import { findJsonSyntaxError } from "./json-syntax-error.ts";

const MAX_DEPTH = 64;
/** Most values in a body, unless its route allows more. */
const MAX_VALUES = 500_000;
/** Most fields per object: a schema checks every field of a map before it counts them. */
const MAX_FIELDS = 1_000;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const BRACE = 0x7b;
const OPENING = new Set([0x5b, BRACE]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Parses a JSON body; an empty one is `{}`. Throws VALIDATION_ERROR if it is not JSON in UTF-8. */
export function parseJsonBody(bytes: Buffer, maxValues = MAX_VALUES): unknown {
  if (bytes.length === 0) return {};
  checkShape(bytes, maxValues);
  const text = decode(bytes);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const fault = findJsonSyntaxError(text);
    const where = fault ? ` at line ${fault.line}, column ${fault.column}` : "";
    throw new GatewayError("VALIDATION_ERROR", `The body is not valid JSON${where}.`, { cause });
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new GatewayError("VALIDATION_ERROR", "The body is not encoded in UTF-8. Encode it in UTF-8.", {
      cause,
    });
  }
}

/** Limits the memory and depth of a body before it is parsed. */
function checkShape(bytes: Buffer, maxValues: number): void {
  const shape = new BodyShape(maxValues);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) shape.addNext();
    else if (OPENING.has(byte)) shape.open(byte === BRACE);
    else if (CLOSING.has(byte)) shape.depth--;
  }
}

/** Counts the values of a body as it is read. Throws VALIDATION_ERROR above the limits. */
class BodyShape {
  depth = 0;
  readonly #maxValues: number;
  /** Number of fields of the open object at each depth; lists are not limited here. */
  readonly #fields: number[] = [];
  #values = 0;

  constructor(maxValues: number) {
    this.#maxValues = maxValues;
  }

  open(isObject: boolean): void {
    this.depth++;
    if (this.depth > MAX_DEPTH) throw tooMuch(`is nested deeper than ${MAX_DEPTH} levels`);
    this.#fields[this.depth] = isObject ? 1 : Number.NEGATIVE_INFINITY;
    this.#addValue();
  }

  addNext(): void {
    const fields = (this.#fields[this.depth] ?? 0) + 1;
    if (fields > MAX_FIELDS) throw tooMuch(`contains an object with more than ${MAX_FIELDS} fields`);
    this.#fields[this.depth] = fields;
    this.#addValue();
  }

  #addValue(): void {
    this.#values++;
    if (this.#values > this.#maxValues) throw tooMuch(`contains more than ${this.#maxValues} values`);
  }
}

function endOfString(bytes: Buffer, start: number): number {
  let end = start;
  do {
    end = bytes.indexOf(QUOTE, end + 1);
    if (end < 0) return bytes.length;
  } while (isEscaped(bytes, end));
  return end;
}

function isEscaped(bytes: Buffer, quote: number): boolean {
  let slashes = 0;
  while (bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

function tooMuch(what: string): GatewayError {
  return new GatewayError("VALIDATION_ERROR", `The body ${what}.`);
}
