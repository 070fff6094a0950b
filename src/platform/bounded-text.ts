import { z } from "zod";

/**
 * A string of at most `max` characters. Unlike a plain `.max()`, a string that is too long is refused at once: no later
 * pattern, refinement or transformation reads it.
 */
export function boundedText(max: number, error = `is longer than ${max} characters`): z.ZodString {
  return z.string().max(max, { error, abort: true });
}
