import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";

/** A pattern whose matching time is linear in the length of the text. */
export interface LinearPattern {
  test(text: string): boolean;
}

/** Worst cost per character. */
const MAX_PROGRAM_SIZE = 600;
const compiled = new LRUCache<string, LinearPattern | { refused: string }>({ max: 200 });

/**
 * Compiles a client's expression in RE2 syntax, case-insensitive. Rejects lookahead, backreferences and very
 * large expressions, because no engine runs them in linear time.
 */
export function compileLinearPattern(expression: string): LinearPattern | { refused: string } {
  const known = compiled.get(expression);
  if (known) return known;
  const made = compile(expression);
  compiled.set(expression, made);
  return made;
}

function compile(expression: string): LinearPattern | { refused: string } {
  try {
    const flags = RE2JS.CASE_INSENSITIVE | RE2JS.LOOKBEHINDS;
    const pattern = RE2JS.compile(RE2JS.translateRegExp(expression), flags);
    if (pattern.programSize() > MAX_PROGRAM_SIZE) return { refused: "is too large: use fewer repetitions" };
    return { test: (text) => pattern.test(text) };
  } catch (error) {
    const reason =
      error instanceof Error ? error.message.replace("error parsing regexp: ", "") : String(error);
    return { refused: `is not a regular expression in RE2 syntax: ${reason}` };
  }
}
