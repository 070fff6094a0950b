const EVERY_MS = 3_000;

/** Progress of a command; a command that takes less than a few seconds prints none. */
export interface ProgressPrinter {
  /** Adds this many to the count that `words` names. */
  advanceBy(count: number, words: string): void;
  /** Sets the total count that `words` names. */
  advanceTo(count: number, words: string): void;
}

/** Prints to standard error, so that standard output holds only the result. */
export function startProgressPrinter(report: (line: string) => void = console.error): ProgressPrinter {
  const done = new Map<string, number>();
  let nextAt = performance.now() + EVERY_MS;
  const advanceTo = (count: number, words: string): void => {
    done.set(words, count);
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + EVERY_MS;
    report(`... ${count} ${words}`);
  };
  return { advanceBy: (count, words) => advanceTo((done.get(words) ?? 0) + count, words), advanceTo };
}
