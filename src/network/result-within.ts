import { withTimeout } from "../platform/limits/with-timeout.ts";

/** The result of the work, or undefined if it failed or took longer than this many milliseconds. */
export function resultWithin<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  return withTimeout(
    work.catch(() => undefined),
    ms,
  );
}
