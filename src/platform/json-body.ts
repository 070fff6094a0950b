import { GatewayError } from "./errors.ts";
import { findJsonFault } from "./json-fault.ts";

const MAX_DEPTH = 64;
/** What a body may be made of, unless its route takes more. */
const MAX_VALUES = 500_000;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Reads a JSON body; nothing at all is `{}`. Throws VALIDATION_ERROR when it is not JSON in UTF-8. */
export function parseJsonBody(bytes: Buffer, maxValues = MAX_VALUES): unknown {
  if (bytes.length === 0) return {};
  checkShape(bytes, maxValues);
  const text = decode(bytes);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const fault = findJsonFault(text);
    const where = fault ? ` at line ${fault.line}, column ${fault.column}` : "";
    throw new GatewayError("VALIDATION_ERROR", `The body is not valid JSON${where}.`, { cause });
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new GatewayError("VALIDATION_ERROR", "The body is not in UTF-8.", { cause });
  }
}

/** Bounds what the body would cost in memory, and how deep a walk through it goes, before it is parsed. */
function checkShape(bytes: Buffer, maxValues: number): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) values++;
    else if (OPENING.has(byte)) {
      depth++;
      values++;
    } else if (CLOSING.has(byte)) depth--;
    if (depth > MAX_DEPTH) throw tooMuch(`nested deeper than ${MAX_DEPTH} levels`);
    if (values > maxValues) throw tooMuch(`made of more than ${maxValues} values`);
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
  return new GatewayError("VALIDATION_ERROR", `The body is ${what}.`);
}
