const EVERY_MS = 3_000;

/** How far a command is; what takes less than a few seconds says nothing. */
export interface ProgressPrinter {
  /** So many more are done of what the words name. */
  add(count: number, words: string): void;
  /** So many are done in all. */
  reach(count: number, words: string): void;
}

/** Tells on standard error, which leaves standard output to the result. */
export function startProgressPrinter(tell: (line: string) => void = console.error): ProgressPrinter {
  const done = new Map<string, number>();
  let nextAt = performance.now() + EVERY_MS;
  const reach = (count: number, words: string): void => {
    done.set(words, count);
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + EVERY_MS;
    tell(`... ${count} ${words}`);
  };
  return { add: (count, words) => reach((done.get(words) ?? 0) + count, words), reach };
}
