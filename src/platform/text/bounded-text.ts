import { z } from "zod";

/** The longest text that Node can hold. */
const LONGEST_TEXT = 536_870_888;

/**
 * A text of at most `max` characters. Unlike a plain `.max()`, one that is too long is refused at once: no later pattern,
 * refinement or transformation reads it.
 */
export function boundedText(max: number, error = `is longer than ${max} characters`): z.ZodString {
  return z.string().max(max, { error, abort: true });
}

/** As `boundedText`, without the spaces around it, which do not count. */
export function trimmedText(max: number, error = `is longer than ${max} characters`): z.ZodString {
  return z.string().trim().max(max, { error, abort: true });
}

/** As `trimmedText`, for what some clients send as a number. */
export function coercedText(max: number, error = `is longer than ${max} characters`) {
  return z.coerce.string().trim().max(max, { error, abort: true });
}

/** A file in base64 or its address: as long as any text can be. The size of its body bounds it further. */
export function fileText(): z.ZodString {
  return boundedText(LONGEST_TEXT);
}

/** What to say of a value that fits no form of a union; of one that is absent, that it is required. */
export function unionErrorMessage(hint: string) {
  return { error: ({ input }: { input?: unknown }) => (input === undefined ? "is required" : hint) };
}
