const EVERY_MS = 3_000;

/** Progress of a command; a command that takes less than a few seconds prints none. */
export interface ProgressPrinter {
  /** Adds this many to the count that `description` names. */
  advanceBy(count: number, description: string): void;
  /** Sets the total count that `description` names. */
  advanceTo(count: number, description: string): void;
}

/** Prints to standard error, so that standard output holds only the result. */
export function startProgressPrinter(report: (line: string) => void = console.error): ProgressPrinter {
  const done = new Map<string, number>();
  let nextAt = performance.now() + EVERY_MS;
  const advanceTo = (count: number, description: string): void => {
    done.set(description, count);
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + EVERY_MS;
    report(`... ${count} ${description}`);
  };
  return {
    advanceBy: (count, description) => advanceTo((done.get(description) ?? 0) + count, description),
    advanceTo,
  };
}
